"""Y = X, its pairs rotated."""

from collections.abc import Mapping

import numpy as np

from playground.kernels.elementwise.rope import frequencies
from playground.measure.references.expected import Expected


def rope(inputs: Mapping[str, np.ndarray]) -> dict[str, Expected]:
    """In float64, the angle too.

    Tolerance: sine and cosine are good to 2^-20.5 absolutely (PTX ISA), their angle of at most π is off by two
    roundings (2^-22 in all), and a product of two terms is rounded three times (2^-24 of each term's size).
    """
    X, positions = inputs["X"].astype(np.float64), inputs["positions"].astype(np.float64)
    a, b = np.split(X, 2, axis=-1)
    angle = 2 * np.pi * np.multiply.outer(positions, frequencies(X.shape[-1]))[:, None]
    values = np.concatenate([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)], axis=-1)
    size = np.abs(a) + np.abs(b)
    tolerance = np.concatenate([size, size], axis=-1) * (2.0**-20.5 + 2.0**-22 + 3 * 2.0**-24)
    return {
        "Y": Expected(values, tolerance, "(2^-20.5 + 2^-22 + 3 · 2^-24) · (|a| + |b|): sin and cos, angle, roundings")
    }
