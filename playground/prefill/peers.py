"""The same model in torch, if torch is installed with CUDA: F.linear (cuBLAS) and SDPA, eager and compiled."""

import sys
from collections.abc import Callable

import numpy as np

from playground.kernels.elementwise.rope import frequencies
from playground.measure.peers import stream_of, tensor_of
from playground.prefill.wall import Beside, Wall
from playground.prefill.weights import EMBEDDING, FINAL_NORM, head_name, layer_prefix
from playground.shapes import Model

ROUNDINGS_PER_LAYER = 16
"""torch keeps everything in f16: beside what our kernels round, every GEMM's output, gate · up and both residuals."""


def peers(wall: Wall) -> dict[str, Beside]:
    """Name -> the wall's prefill in torch, on the wall's own weights and tokens; none without torch."""
    try:
        import torch
    except ImportError:
        return {}
    if not torch.cuda.is_available():
        return {}
    weights = {name: tensor_of(buffer, torch) for name, buffer in wall.decoder.weights.items()}
    weights = {name: tensor.half() for name, tensor in weights.items()}
    tokens = torch.from_numpy(wall.tokens).cuda()
    torch.cuda.synchronize()  # torch made them on its own stream
    stream, found = stream_of(wall.device, torch), {}
    for name, wrap in {"torch eager": _as_is, "torch.compile": torch.compile}.items():
        try:
            found[name] = _captured(wall.model, weights, tokens, wrap, stream, torch)
        except RuntimeError as error:  # no compiler for Triton on this machine, for one
            print(f"not timed beside: {name}: {' '.join(str(error).split())[:300]}", file=sys.stderr)
    return found


def forward(model: Model, weights: dict, tokens, sine, cosine, block: Callable):
    """Logits [vocabulary] of the last token. weights: f16 tensors by Qwen2's names. block: `layer`, maybe compiled."""
    import torch.nn.functional as F

    x = F.embedding(tokens, weights[EMBEDDING])
    for number in range(model.layers):
        x = block(model, own(weights, number), x, sine, cosine)
    last = F.rms_norm(x[-1:], x.shape[-1:], weights[FINAL_NORM], model.rms_eps)
    return F.linear(last, weights[head_name(model)])[0]


def own(weights: dict, layer: int) -> dict:
    """The tensors of one layer, by the rest of their names."""
    prefix = layer_prefix(layer)
    return {name.removeprefix(prefix): tensor for name, tensor in weights.items() if name.startswith(prefix)}


def layer(model: Model, w: dict, x, sine, cosine):
    """One layer of the model on [nt, hidden] f16."""
    import torch.nn.functional as F

    h = F.rms_norm(x, x.shape[-1:], w["input_layernorm.weight"], model.rms_eps)
    q, k, v = (
        F.linear(h, w[f"self_attn.{name}_proj.weight"], w[f"self_attn.{name}_proj.bias"])
        .view(len(x), -1, model.head_dim)
        .transpose(0, 1)
        for name in "qkv"
    )
    q, k = turned(q, sine, cosine), turned(k, sine, cosine)
    attended = F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True, enable_gqa=True)[0]
    x = x + F.linear(attended.transpose(0, 1).reshape(len(x), -1), w["self_attn.o_proj.weight"])
    h = F.rms_norm(x, x.shape[-1:], w["post_attention_layernorm.weight"], model.rms_eps)
    activated = F.silu(F.linear(h, w["mlp.gate_proj.weight"])) * F.linear(h, w["mlp.up_proj.weight"])
    return x + F.linear(activated, w["mlp.down_proj.weight"])


def turns(model: Model, nt: int, device):
    """Sine and cosine of every position and pair, [nt, hd/2] f32, from float64 angles."""
    import torch

    angles = 2 * np.pi * np.multiply.outer(np.arange(nt), frequencies(model.head_dim))
    return [torch.from_numpy(table(angles).astype(np.float32)).to(device) for table in (np.sin, np.cos)]


def turned(x, sine, cosine):
    """Rotary position embedding of [heads, nt, hd] f16, in f32."""
    import torch

    a, b = x.float().chunk(2, dim=-1)
    return torch.cat([a * cosine - b * sine, b * cosine + a * sine], dim=-1).to(x.dtype)


def _captured(model: Model, weights: dict, tokens, wrap: Callable, stream, torch) -> Beside:
    """One prefill as a CUDA graph, like ours."""
    block, tables = wrap(layer), turns(model, len(tokens), tokens.device)
    with torch.no_grad(), torch.cuda.stream(stream):
        for _ in range(2):  # compiled, planned, and its workspaces made: none of it can happen in a capture
            forward(model, weights, tokens, *tables, block)
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph, stream=stream):
        logits = forward(model, weights, tokens, *tables, block)

    def launch(_alive=(weights, tokens, tables)):
        with torch.cuda.stream(stream):
            graph.replay()

    def result() -> np.ndarray:
        launch()
        stream.synchronize()
        return logits.float().cpu().numpy()

    return Beside(launch, result, ROUNDINGS_PER_LAYER)


def _as_is(function: Callable) -> Callable:
    return function
