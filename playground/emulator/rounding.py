"""Correct rounding of results that one float does not hold: exact values as pairs of doubles, rounded once.

A pair (high, low) stands for high + low, with high the double nearest to it. Sources: Dekker 1971 (two_sum,
two_product); Boldo & Melquiond 2008, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding
to odd"; PTX ISA, "Rounding Modifiers".
"""

from fractions import Fraction

import numpy as np

MODES = ("rn", "rz", "rm", "rp")
SPLITTER = float(2**27 + 1)


def two_sum(a, b):
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a, b):
    """Exact while nothing over- or underflows: see `fma64` for how that is kept."""
    product = a * b
    high_a, low_a = _split(a)
    high_b, low_b = _split(b)
    return product, ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b


def _split(a):
    scaled = a * SPLITTER
    high = scaled - (scaled - a)
    return high, a - high


def round_pair(high, low, dtype, mode: str):
    """(high, low) -> float32 or float16, rounded once by `mode`; float64 for round-to-nearest only of |low| < ulp/2."""
    if dtype == np.float64 and mode == "rn":
        return high
    near = odd(high, low).astype(dtype) if mode == "rn" else high.astype(dtype)
    return near if mode == "rn" else _directed(near, high, low, mode)


def odd(high, low):
    """The double that a narrower rounding may start from: high, or where that is inexact the neighbour that is odd."""
    high = np.asarray(high, np.float64)
    bits = high.view(np.uint64)
    inexact = (low != 0) & np.isfinite(high)
    if not inexact.any():
        return high
    towards_zero = (low < 0) != (high < 0)
    step = np.where(towards_zero, np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(1))
    even = (bits & np.uint64(1)) == 0
    return np.where(inexact & even, bits + step, bits).view(np.float64)


def _directed(near, high, low, mode: str):
    """From the nearest float to the one that `mode` asks for: towards zero, minus or plus infinity."""
    dtype = near.dtype
    back = near.astype(np.float64)
    above = (back > high) | ((back == high) & (low < 0))
    below = (back < high) | ((back == high) & (low > 0))
    infinity = dtype.type(np.inf)
    down = above & ((high > 0) if mode == "rz" else mode == "rm")
    up = below & ((high < 0) if mode == "rz" else mode == "rp")
    finite = np.isfinite(high)
    near = np.where(down & finite, np.nextafter(near, -infinity), near)
    return np.where(up & finite, np.nextafter(near, infinity), near)


HALFWAY = np.uint64(1 << 28)
BELOW_F32 = np.uint64((1 << 29) - 1)
SMALLEST_NORMAL_F32 = 2.0**-126


def fma32(a, b, c):
    """a * b + c in float32, rounded once. The product is exact in double; only ties need to know what the sum lost."""
    product = a.astype(np.float64) * b
    total = np.asarray(product + c)
    if _may_round_twice(total):
        return odd(*two_sum(product, c.astype(np.float64))).astype(np.float32)
    return total.astype(np.float32)


def _may_round_twice(total) -> bool:
    """Where the double is halfway between two floats; among the subnormals halfway is elsewhere, so all may be."""
    ties = (total.view(np.uint64) & BELOW_F32) == HALFWAY
    return bool(ties.any()) or bool((np.abs(total) < SMALLEST_NORMAL_F32).any() and total.any())


def fma64(a, b, c, mode: str = "rn"):
    """a * b + c in float64, rounded once.

    By error-free transformation where no step over- or underflows, otherwise by exact fractions, lane by lane.
    """
    a, b, c = np.broadcast_arrays(np.float64(a), np.float64(b), np.float64(c))
    plain = a * b + c
    if mode == "rn":
        safe = _safe(a) & _safe(b) & (_safe(c) | (c == 0)) & _safe(a * b)
        high, low = two_product(a, b)
        small_high, small_low = two_sum(c, low)
        sum_high, sum_low = two_sum(high, small_high)
        result = sum_high + odd(*two_sum(small_low, sum_low))
        safe &= (np.abs(sum_high) > 2.0**-900) | (sum_high == 0)
    else:
        safe, result = np.zeros(plain.shape, bool), plain.copy()
    exact_zero = (a == 0) | (b == 0)
    needs_fraction = ~safe & ~exact_zero & np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    result = np.where(safe, result, plain)
    for index in np.argwhere(needs_fraction):
        index = tuple(index)
        exact = Fraction(float(a[index])) * Fraction(float(b[index])) + Fraction(float(c[index]))
        if exact:
            result[index] = round_fraction(exact, mode)
    return result


def _safe(x):
    size = np.abs(x)
    return (size < 2.0**500) & (size > 2.0**-400)


def round_fraction(exact: Fraction, mode: str) -> float:
    """The double that `mode` rounds a non-zero fraction to."""
    try:
        near = float(exact)
    except OverflowError:
        near = np.inf if exact > 0 else -np.inf
    if mode == "rn":
        return near
    above = near == np.inf or (np.isfinite(near) and Fraction(near) > exact)
    below = near == -np.inf or (np.isfinite(near) and Fraction(near) < exact)
    if above and (mode == "rm" or (mode == "rz" and exact > 0)):
        return float(np.nextafter(near, -np.inf))
    if below and (mode == "rp" or (mode == "rz" and exact < 0)):
        return float(np.nextafter(near, np.inf))
    return near


def integer_pair(a):
    """An integer array as a pair of doubles, exactly."""
    if a.dtype.itemsize < 8:
        return a.astype(np.float64), np.float64(0)
    bits = a.dtype.type(32)
    high = (a >> bits).astype(np.float64) * 2.0**32
    low = (a & a.dtype.type(0xFFFFFFFF)).astype(np.float64)
    return two_sum(high, low)
