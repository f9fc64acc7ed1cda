"""C = A · Bᵀ.

The tolerance of a sum of n products in f32: the tensor cores of every generation add a few products to the accumulator
at a time and truncate, so a running sum takes a relative error of up to 2⁻²³ at every step of at least 8 products. The
running sum of zero-mean products a·b grows like a random walk: it stays within 6 · ‖a‖‖b‖/√n (six standard deviations).
Hence |error| ≤ n/8 · 2⁻²³ · 6 · ‖a‖‖b‖/√n. One lost chunk of 8 products of a sum of 3584 is off by about
√8 · ‖a‖‖b‖/n, 100 times that.
"""

from collections.abc import Mapping

import numpy as np

from playground.measure.references.expected import Expected

ADDED_PER_STEP = 8
STEP_ERROR = 2.0**-23
DEVIATIONS = 6
ROWS_AT_ONCE = 1024


def gemm_nt(inputs: Mapping[str, np.ndarray]) -> dict[str, Expected]:
    """C = A · Bᵀ in float64, a block of rows of B at a time."""
    A, B = inputs["A"].astype(np.float64), inputs["B"]
    values = np.empty((len(A), len(B)))
    norms = np.empty(len(B))
    for first in range(0, len(B), ROWS_AT_ONCE):
        rows = slice(first, first + ROWS_AT_ONCE)
        block = B[rows].astype(np.float64)
        values[:, rows] = A @ block.T
        norms[rows] = np.linalg.norm(block, axis=1)
    n = A.shape[1]
    scale = np.ceil(n / ADDED_PER_STEP) * STEP_ERROR * DEVIATIONS / np.sqrt(n)
    tolerance = (scale * np.linalg.norm(A, axis=1)[:, None] * norms).astype(np.float32)
    return {"C": Expected(values, tolerance, "n/8 · 2^-23 · 6 · |a||b|/sqrt(n): truncating f32 accumulation")}


def gemm_af32_nt(inputs: Mapping[str, np.ndarray]) -> dict[str, Expected]:
    """The same with A [f32] rounded to f16 before, to nearest even: what a convert pass would have handed on."""
    return gemm_nt({**inputs, "A": inputs["A"].astype(np.float16)})
