"""What each contract should compute, in float64 on the CPU, and how far from it a correct kernel may be.

The tolerance of a sum of n products in f32: the tensor cores of every generation add a few products to the accumulator
at a time and truncate, so a running sum takes a relative error of up to 2⁻²³ at every step of at least 8 products. The
running sum of zero-mean products a·b grows like a random walk: it stays within 6 · ‖a‖‖b‖/√n (six standard deviations).
Hence |error| ≤ n/8 · 2⁻²³ · 6 · ‖a‖‖b‖/√n. One lost chunk of 8 products of a sum of 3584 is off by about
√8 · ‖a‖‖b‖/n, 100 times that.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

ADDED_PER_STEP = 8
STEP_ERROR = 2.0**-23
DEVIATIONS = 6
ROWS_AT_ONCE = 1024


@dataclass(frozen=True)
class Expected:
    """The exact values and the tolerance of each, and where the tolerance comes from."""

    values: np.ndarray
    tolerance: np.ndarray
    source: str

    def rounded_to_f16(self) -> "Expected":
        """The same for an output that is rounded to f16 at the end: half a unit in the last place more."""
        tolerance = self.tolerance + np.abs(self.values) * 2.0**-11 + 2.0**-25
        return Expected(self.values, tolerance, f"{self.source}, rounded to f16")


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


def attention(inputs: Mapping[str, np.ndarray]) -> dict[str, Expected]:
    """O = softmax(Q · Kᵀ / √hd) · V in float64 over the keys up to each position, with Q rounded to f16 first.

    Tolerance: the weights are rounded to f16 (2⁻¹¹ of each, or 2⁻²⁵ where they are subnormal) and carry twice the error
    of their logit, once for themselves and once through the sum; a logit is a sum of hd products, as in gemm_nt.
    """
    Q, K, V = (inputs[name].astype(np.float16).astype(np.float64) for name in "QKV")
    positions, (nt, nh, hd), nk = inputs["positions"], Q.shape, K.shape[1]
    values, tolerance = np.empty((nt, nh, hd)), np.empty((nt, nh, hd))
    hidden = np.arange(len(K)) > positions[:, None]
    sum_error = np.ceil(hd / ADDED_PER_STEP) * STEP_ERROR * DEVIATIONS / hd
    for head in range(nh):
        q, k, v = Q[:, head], K[:, head * nk // nh], V[:, head * nk // nh]
        logits = np.where(hidden, -np.inf, q @ k.T / np.sqrt(hd))
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        total = weights.sum(axis=1, keepdims=True)
        values[:, head] = weights @ v / total
        largest = np.linalg.norm(q, axis=1) * np.linalg.norm(k, axis=1).max()
        steepest = np.abs(logits, where=~hidden, out=np.zeros_like(logits)).max(axis=1)
        logit_error = sum_error * largest + steepest * 2.0**-22
        relative = 2.0**-11 + 2 * np.expm1(logit_error)[:, None] + 2.0**-20
        magnitude = np.abs(v)
        tolerance[:, head] = (relative * (weights @ magnitude) + 2.0**-25 * magnitude.sum(axis=0)) / total
    source = "weights in f16 (2^-11), logits as gemm_nt, exponential 2^-22 of the logit"
    return {"O": Expected(values, tolerance, source)}


REFERENCES = {"gemm_nt": gemm_nt, "attention_hd64": attention, "attention_hd128": attention}
