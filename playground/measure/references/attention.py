"""Causal attention."""

from collections.abc import Mapping

import numpy as np

from playground.measure.references.expected import Expected
from playground.measure.references.gemm import ADDED_PER_STEP, DEVIATIONS, STEP_ERROR


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
