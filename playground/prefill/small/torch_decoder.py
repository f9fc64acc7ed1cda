"""Qwen2 in torch, as plain functions of weights by Hugging Face's names: what the small model is trained with.

Independent of the project's kernels, so that a model trained here and decoded by them is judged by two sources.
"""

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from playground.prefill.weights import EMBEDDING, FINAL_NORM, head_name, layer_prefix
from playground.shapes import Model


def logits(model: Model, weights: Mapping[str, Tensor], tokens: Tensor) -> Tensor:
    """Of every position: [batch, nt] int64 -> [batch, nt, vocabulary]."""
    x = F.embedding(tokens, weights[EMBEDDING])
    turn = rotations(model, tokens.shape[1], x.device)
    for number in range(model.layers):
        layer = _under(weights, layer_prefix(number))
        x = x + attention(model, layer, norm(model, x, layer["input_layernorm.weight"]), turn)
        x = x + feed_forward(layer, norm(model, x, layer["post_attention_layernorm.weight"]))
    x = norm(model, x, weights[FINAL_NORM])
    return F.linear(x, weights[head_name(model)])


def norm(model: Model, x: Tensor, weight: Tensor) -> Tensor:
    return F.rms_norm(x, (model.hidden,), weight, model.rms_eps)


def attention(model: Model, layer: Mapping[str, Tensor], x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """Causal and grouped: query head h reads key head h · kv_heads / heads."""
    batch, nt, _ = x.shape

    def heads(name: str, count: int) -> Tensor:
        projected = F.linear(x, layer[f"self_attn.{name}.weight"], layer[f"self_attn.{name}.bias"])
        return projected.view(batch, nt, count, model.head_dim).transpose(1, 2)

    v = heads("v_proj", model.kv_heads)
    q = rotate(heads("q_proj", model.heads), turn).to(v.dtype)
    k = rotate(heads("k_proj", model.kv_heads), turn).to(v.dtype)
    group = model.heads // model.kv_heads
    k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
    o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return F.linear(o.transpose(1, 2).reshape(batch, nt, -1), layer["self_attn.o_proj.weight"])


def feed_forward(layer: Mapping[str, Tensor], x: Tensor) -> Tensor:
    gate, up = (F.linear(x, layer[f"mlp.{name}.weight"]) for name in ("gate_proj", "up_proj"))
    return F.linear(F.silu(gate) * up, layer["mlp.down_proj.weight"])


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


def _under(weights: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): weight for name, weight in weights.items() if name.startswith(prefix)}
