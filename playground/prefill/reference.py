"""The whole model in float64 on the CPU, and how far from it the kernels may be."""

from collections.abc import Mapping

import numpy as np

from playground.kernels.elementwise.rope import frequencies
from playground.measure.references.expected import Expected
from playground.measure.references.gemm import DEVIATIONS
from playground.prefill.weights import EMBEDDING, FINAL_NORM, head_name, layer_weights
from playground.shapes import Model

ROUNDINGS_PER_LAYER = 7
UNIT, SMALLEST = 2.0**-11, 2.0**-149


def logits(model: Model, weights: Mapping[str, np.ndarray], tokens: np.ndarray) -> np.ndarray:
    """[nt, vocabulary] float64: of every token, given those before it. weights: as tensor_shapes names them."""
    W = {name: array.astype(np.float64) for name, array in weights.items()}
    x = W[EMBEDDING][tokens]
    for layer in range(model.layers):
        own = layer_weights(W, layer)
        h = _norm(x, own["input_layernorm.weight"], model)
        q, k, v = (_project(h, own, f"self_attn.{name}_proj", model) for name in "qkv")
        attended = _attend(_turned(q), _turned(k), v)
        x = x + attended @ own["self_attn.o_proj.weight"].T
        h = _norm(x, own["post_attention_layernorm.weight"], model)
        gate, up = (h @ own[f"mlp.{name}_proj.weight"].T for name in ("gate", "up"))
        x = x + (gate / (1 + np.exp(-gate)) * up) @ own["mlp.down_proj.weight"].T
    return _norm(x, W[FINAL_NORM], model) @ W[head_name(model)].T


def rounding(model: Model, roundings_per_layer: int = ROUNDINGS_PER_LAYER) -> float:
    """How far logits may be off, as a part of their root mean square.

    What goes through a layer is rounded to f16 seven times (norm, q with k, v, the softmax's weights, attended values,
    norm, activation), and once more before the head. Each rounding is an independent relative error of 2^-11 at the
    most, which a matrix of random signs hands on as it is, so they add up by the root of their number; six times that
    is allowed. The roundings to f32 are 2^-13 of these.
    """
    return DEVIATIONS * np.sqrt(roundings_per_layer * model.layers + 1) * UNIT


def expected_logits(model: Model, weights: Mapping[str, np.ndarray], tokens: np.ndarray) -> dict[str, Expected]:
    """Of the last token, with the tolerance of `rounding`."""
    values = logits(model, weights, tokens)[-1]
    return within(values, rounding(model), "6 · sqrt(7 · layers + 1) · 2^-11 of the logits' rms: f16")


def agreeing_logits(
    model: Model, others: np.ndarray, roundings_per_layer: int = ROUNDINGS_PER_LAYER
) -> dict[str, Expected]:
    """What one run's logits should be by another's, each as far off as `rounding` allows."""
    allowed = np.hypot(rounding(model), rounding(model, roundings_per_layer))
    return within(others.astype(np.float64), allowed, "f16 roundings of both runs, 6 · sqrt(n) · 2^-11 of the rms")


def within(values: np.ndarray, allowed: float, source: str) -> dict[str, Expected]:
    """These logits [vocabulary] float64, each of which may be off by the part `allowed` of their root mean square."""
    size = np.sqrt(np.mean(values**2))
    tolerance = allowed * size if np.isfinite(size) else SMALLEST  # logits that are NaN agree with none
    return {"logits": Expected(values, np.full(values.shape, tolerance), source)}


def _norm(x: np.ndarray, weight: np.ndarray, model: Model) -> np.ndarray:
    return x * weight / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + model.rms_eps)


def _project(h: np.ndarray, own: Mapping[str, np.ndarray], name: str, model: Model) -> np.ndarray:
    """[nt, heads, head_dim]."""
    return (h @ own[f"{name}.weight"].T + own[f"{name}.bias"]).reshape(len(h), -1, model.head_dim)


def _turned(x: np.ndarray) -> np.ndarray:
    """Rotary position embedding of [nt, heads, hd] at positions 0, 1, …"""
    angle = 2 * np.pi * np.multiply.outer(np.arange(len(x)), frequencies(x.shape[-1]))[:, None]
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)], axis=-1)


def _attend(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Causal grouped-query attention, heads joined: [nt, heads · hd]."""
    nt, heads, hd = q.shape
    k, v = (np.repeat(x, heads // x.shape[1], axis=1) for x in (k, v))
    scores = np.einsum("thd,shd->hts", q, k) / np.sqrt(hd)
    scores = np.where(np.tri(nt, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.einsum("hts,shd->thd", weights, v).reshape(nt, heads * hd)
