"""bfloat16: the upper half of a float32, kept as its 16 bits.

Source: PTX ISA, "Alternate Floating-Point Data Formats".
"""

import numpy as np

NAN = np.uint16(0x7FFF)


def widen(bits):
    """uint16 -> float32, exactly."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def narrow(x, mode: str = "rn"):
    """float32 -> uint16 bits, to nearest even or towards zero."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    upper = bits >> np.uint32(16)
    if mode == "rn":
        upper = (bits + np.uint32(0x7FFF) + (upper & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(x), NAN, upper.astype(np.uint16))
