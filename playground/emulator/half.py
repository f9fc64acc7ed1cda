"""Packed pairs of 16-bit floats in one 32-bit register: f16x2 and bf16x2. Source: PTX ISA, "Packed Data Types"."""

import numpy as np

from playground.emulator import bfloat

NAN = np.uint16(0x7FFF)
SIXTEEN = np.uint32(16)


def widen(kind: str):
    """How the 16 bits of one element become a float32, exactly."""
    return bfloat.widen if kind.startswith("bf16") else lambda bits: bits.view(np.float16).astype(np.float32)


def narrow(kind: str):
    """How a float (float32, or a double rounded to odd) becomes the 16 bits of one element, to nearest even."""
    return _narrow_bfloat if kind.startswith("bf16") else _narrow_half


def _narrow_half(x):
    half = np.asarray(x).astype(np.float16)
    return np.where(np.isnan(half), NAN, half.view(np.uint16))


def _narrow_bfloat(x):
    return bfloat.narrow(odd_float32(x) if np.asarray(x).dtype == np.float64 else x)


def odd_float32(x):
    """float64 -> float32 rounded to odd, so that rounding it again to 16 bits is right."""
    near = x.astype(np.float32)
    back = near.astype(np.float64)
    bits = near.view(np.uint32)
    away = np.abs(back) > np.abs(x)
    truncated = np.where(away, bits - np.uint32(1), bits)
    inexact = (back != x) & np.isfinite(x)
    return np.where(inexact, truncated | np.uint32(1), bits).view(np.float32)


def unpack(pair):
    """uint32 -> the lower and the upper 16 bits."""
    return pair.astype(np.uint16), (pair >> SIXTEEN).astype(np.uint16)


def pack(low, high):
    return low.astype(np.uint32) | (high.astype(np.uint32) << SIXTEEN)


def per_element(function):
    """A function of 16-bit elements as one of packed pairs."""

    def packed(*pairs):
        lows, highs = zip(*map(unpack, pairs))
        return pack(function(*lows), function(*highs))

    return packed
