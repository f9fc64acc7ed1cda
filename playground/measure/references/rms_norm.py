"""Y = X · W / √(mean(X²) + ε) by rows."""

from collections.abc import Mapping

import numpy as np

from playground.kernels.elementwise.rms_norm import EPSILON
from playground.measure.references.expected import Expected
from playground.measure.references.gemm import DEVIATIONS

ROUNDING = 2.0**-24


def rms_norm(inputs: Mapping[str, np.ndarray]) -> dict[str, Expected]:
    """In float64.

    Tolerance, relative: a sum of n squares is rounded n times, at random to either side: six standard deviations are
    6 · √n · 2⁻²⁴ at the most, of which the root leaves half. Then 1/n (1 unit), ε and the mean's product (a rounding
    each), of which the root leaves half too; the reciprocal root (2⁻²²) and two products. One square lost of 3584 is
    off by 2⁻¹³ as a rule, ten times that.
    """
    X, W = inputs["X"].astype(np.float64), inputs["W"].astype(np.float64)
    n = X.shape[1]
    values = X * W / np.sqrt(np.mean(X**2, axis=1, keepdims=True) + EPSILON)
    relative = (DEVIATIONS * np.sqrt(n) + 4) / 2 * ROUNDING + 2.0**-22 + 2 * ROUNDING
    tolerance = np.abs(values) * relative + 2.0**-126
    return {"Y": Expected(values, tolerance, "(3 · sqrt(n) + 8) · 2^-24 relative: f32 sum, approximate root")}


def rms_norm_f16(inputs: Mapping[str, np.ndarray]) -> dict[str, Expected]:
    """The same, rounded to f16 at the end."""
    return {name: expected.rounded_to_f16() for name, expected in rms_norm(inputs).items()}
