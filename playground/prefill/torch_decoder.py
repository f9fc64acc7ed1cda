"""Qwen2 in torch, as plain functions of weights by Hugging Face's names: to train the small model, and to time beside.

Independent of the project's kernels, so that a model trained here and decoded by them is judged by two sources. Matrix
products have the dtype of the weights (outside of autocast); rotations are in f32 at the least.
"""

from collections.abc import Callable, Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from playground.prefill.weights import EMBEDDING, FINAL_NORM, head_name, layer_weights
from playground.shapes import Model


def logits(model: Model, weights: Mapping[str, Tensor], tokens: Tensor) -> Tensor:
    """Of every position: [batch, nt] int64 -> [batch, nt, vocabulary]."""
    turn = rotations(model, tokens.shape[1], tokens.device)
    return head(model, weights, hidden(model, weights, tokens, turn, layer))


def hidden(
    model: Model, weights: Mapping[str, Tensor], tokens: Tensor, turn: tuple[Tensor, Tensor], block: Callable
) -> Tensor:
    """What the layers make of the tokens: [batch, nt] int64 -> [batch, nt, hidden]. block: `layer`, maybe compiled."""
    x = F.embedding(tokens, weights[EMBEDDING])
    for number in range(model.layers):
        x = block(model, layer_weights(weights, number), x, turn)
    return x


def layer(model: Model, w: Mapping[str, Tensor], x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """One layer on [batch, nt, hidden]. w: its own weights, by the rest of their names."""
    x = x + attention(model, w, norm(model, x, w["input_layernorm.weight"]), turn)
    return x + feed_forward(w, norm(model, x, w["post_attention_layernorm.weight"]))


def head(model: Model, weights: Mapping[str, Tensor], x: Tensor) -> Tensor:
    """Logits of [batch, nt, hidden]."""
    return F.linear(norm(model, x, weights[FINAL_NORM]), weights[head_name(model)])


def norm(model: Model, x: Tensor, weight: Tensor) -> Tensor:
    """x · weight / √(mean(x²) + ε) over the last axis."""
    return F.rms_norm(x, (model.hidden,), weight, model.rms_eps)


def attention(model: Model, w: Mapping[str, Tensor], x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """Causal and grouped: query head h reads key head h · kv_heads / heads."""
    batch, nt, _ = x.shape

    def heads(name: str, count: int) -> Tensor:
        projected = F.linear(x, w[f"self_attn.{name}.weight"], w[f"self_attn.{name}.bias"])
        return projected.view(batch, nt, count, model.head_dim).transpose(1, 2)

    v = heads("v_proj", model.kv_heads)
    q = rotate(heads("q_proj", model.heads), turn).to(v.dtype)
    k = rotate(heads("k_proj", model.kv_heads), turn).to(v.dtype)
    o = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    return F.linear(o.transpose(1, 2).reshape(batch, nt, -1), w["self_attn.o_proj.weight"])


def feed_forward(w: Mapping[str, Tensor], x: Tensor) -> Tensor:
    """down(silu(gate) · up)."""
    gate, up = (F.linear(x, w[f"mlp.{name}.weight"]) for name in ("gate_proj", "up_proj"))
    return F.linear(F.silu(gate) * up, w["mlp.down_proj.weight"])


def rotations(model: Model, nt: int, device) -> tuple[Tensor, Tensor]:
    """Cosine and sine, [nt, hd/2], of position · θ^(-2i/hd)."""
    exponents = torch.arange(0, model.head_dim, 2, device=device, dtype=torch.float64) / model.head_dim
    angle = torch.outer(torch.arange(nt, device=device, dtype=torch.float64), model.rope_theta**-exponents)
    return angle.cos().float(), angle.sin().float()


def rotate(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """Element i turns with element i + hd/2."""
    cosine, sine = turn
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cosine - b * sine, b * cosine + a * sine], dim=-1)
