"""A model's weights by the names that Hugging Face's Qwen2 gives them: their shapes, random ones, and on a runner."""

import math
from collections.abc import Mapping

import numpy as np

from playground.compiler.build import build
from playground.errors import Refusal
from playground.kernels.random_f16 import random_f16
from playground.shapes import Model

EMBEDDING, HEAD, FINAL_NORM = "model.embed_tokens.weight", "lm_head.weight", "model.norm.weight"
SPREAD = 0.1
"""Standard deviation of random biases, and of random norm weights around 1."""


def layer_prefix(layer: int) -> str:
    """What the names of a layer's tensors begin with."""
    return f"model.layers.{layer}."


def layer_weights(weights: Mapping, layer: int) -> dict:
    """The tensors of one layer, by the rest of their names."""
    prefix = layer_prefix(layer)
    return {name.removeprefix(prefix): tensor for name, tensor in weights.items() if name.startswith(prefix)}


def head_name(model: Model) -> str:
    """The tensor that the head multiplies by."""
    return EMBEDDING if model.tied else HEAD


def tensor_shapes(model: Model) -> dict[str, tuple[tuple[int, ...], str]]:
    """Name -> (shape, dtype): matrices f16 [out, in], norms and biases f32."""
    q, kv = model.q_width, model.kv_width
    matrices = {
        "self_attn.q_proj": (q, model.hidden),
        "self_attn.k_proj": (kv, model.hidden),
        "self_attn.v_proj": (kv, model.hidden),
        "self_attn.o_proj": (model.hidden, q),
        "mlp.gate_proj": (model.feed_forward, model.hidden),
        "mlp.up_proj": (model.feed_forward, model.hidden),
        "mlp.down_proj": (model.hidden, model.feed_forward),
    }
    vectors = {
        "input_layernorm.weight": model.hidden,
        "self_attn.q_proj.bias": q,
        "self_attn.k_proj.bias": kv,
        "self_attn.v_proj.bias": kv,
        "post_attention_layernorm.weight": model.hidden,
    }
    found = {EMBEDDING: ((model.vocabulary, model.hidden), "float16")}
    for layer in range(model.layers):
        prefix = layer_prefix(layer)
        found |= {f"{prefix}{name}.weight": (shape, "float16") for name, shape in matrices.items()}
        found |= {f"{prefix}{name}": ((length,), "float32") for name, length in vectors.items()}
    found[FINAL_NORM] = (model.hidden,), "float32"
    return found if model.tied else found | {HEAD: ((model.vocabulary, model.hidden), "float16")}


def weight_bytes(model: Model) -> int:
    """Of all tensors together."""
    return bytes_of(tensor_shapes(model))


def bytes_of(described: Mapping[str, tuple[tuple[int, ...], str]]) -> int:
    """Of all arrays that are described so, name -> (shape, dtype)."""
    return sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in described.values())


def random_weights(runner, model: Model, seed: int = 1) -> dict:
    """Seeded random weights on a runner: matrices made there (see kernels/random_f16), vectors brought there."""
    runner.require(weight_bytes(model), f"the weights of {model}")
    generator, made = np.random.default_rng(seed), build(random_f16(), runner.arch)
    weights = {}
    for number, (name, (shape, dtype)) in enumerate(tensor_shapes(model).items()):
        if dtype == "float16":
            weights[name] = runner.allocate(shape, dtype)
            runner.launch(
                made, [weights[name]], {"od": shape[0], "id": shape[1], "seed": (seed + number) % (2**31 - 1) + 1}
            )
        else:
            values = SPREAD * generator.standard_normal(shape, np.float32) + name.endswith("norm.weight")
            weights[name] = runner.place(values.astype(np.float32))
    return weights


def placed(runner, model: Model, weights: Mapping) -> dict:
    """Every tensor of the model as a handle of the runner; what is missing or misshaped is refused."""
    wanted = tensor_shapes(model)
    if missing := [name for name in wanted if name not in weights]:
        raise Refusal(f"{len(missing)} of {len(wanted)} tensors are missing, the first is {missing[0]}")
    for name, (shape, dtype) in wanted.items():
        given = tuple(weights[name].shape), np.dtype(weights[name].dtype)
        if given != (shape, np.dtype(dtype)):
            raise Refusal(f"{name} is {given[1]} {list(given[0])}, the model needs {dtype} {list(shape)}")
    return {name: runner.place(weights[name]) for name in wanted}
