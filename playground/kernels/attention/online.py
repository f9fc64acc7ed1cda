"""Online softmax: a row's maximum m and sum l over the keys seen so far, and how both change with a tile of keys.

Logits are scaled by log2 e / √hd, so that the exponential is a power of two. Source: seed 001, §3.2.
"""

import math

from numba import float32

from playground.ptx.device_function import device_function
from playground.ptx.exponential import exp2

NOTHING_SEEN = float32(-math.inf)


def logit_scale(hd: int):
    """What a product q · k is multiplied by to become the exponent of two."""
    return float32(math.log2(math.e) / math.sqrt(hd))


@device_function
def correction(old_maximum, new_maximum):
    """The factor on the sum and the output so far when the maximum rises: 1 while nothing was seen at all."""
    if new_maximum == NOTHING_SEEN:
        return float32(1)
    return exp2(old_maximum - new_maximum)


@device_function
def weight(logit, maximum, is_visible):
    """The unnormalised probability of a key: exactly 0 if it is masked."""
    return exp2(logit - maximum) if is_visible else float32(0)
