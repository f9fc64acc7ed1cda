"""Outputs that can be told to the bit."""

import numpy as np

from playground.measure.references.expected import Expected


def exact_f16(values: np.ndarray, why: str) -> Expected:
    """`values` [f16] and no others: any two f16 differ by at least 2⁻²⁴."""
    return Expected(values.astype(np.float64), np.full(values.shape, 2.0**-25, np.float32), f"to the bit: {why}")
