"""A Qwen2.5-shaped decoder as a list of launches: the project's kernels on weights, a cache, and a few activations."""

import copy
from collections.abc import Mapping, Sequence

import numpy as np

from playground.compiler.build import Build, build
from playground.errors import Refusal
from playground.kernels.attention.contract import HEAD_DIMENSIONS
from playground.kernels.elementwise.rms_norm import EPSILON
from playground.kernels.elementwise.rope import THETA
from playground.prefill.configuration import Configuration
from playground.prefill.passes import Pass
from playground.prefill.weights import EMBEDDING, FINAL_NORM, bytes_of, head_name, layer_prefix, placed
from playground.shapes import Model


def array_shapes(model: Model, slots: int) -> dict[str, tuple[tuple[int, ...], str]]:
    """What a decoder allocates for up to `slots` tokens, beside the weights: name -> (shape, dtype)."""
    q, kv, ff = model.q_width, model.kv_width, model.feed_forward
    wide = {"x": model.hidden, "q": q, "k": kv, "v": kv, "attended": q, "projected": model.hidden}
    wide |= {"gate": ff, "up": ff, "activated": ff}
    narrow = {"normed": model.hidden, "attended_f16": q, "activated_f16": ff}
    shapes = {"tokens": ((slots,), "int32"), "positions": ((slots,), "int32")}
    shapes |= {name: ((slots, length), "float32") for name, length in wide.items()}
    shapes |= {name: ((slots, length), "float16") for name, length in narrow.items()}
    for layer in range(model.layers):
        shapes |= {f"{side} cache {layer}": ((slots, kv), "float16") for side in "KV"}
    return shapes | {"logits": ((1, model.vocabulary), "float32")}


def array_bytes(model: Model, slots: int) -> int:
    """Of all that a decoder allocates, beside the weights."""
    return bytes_of(array_shapes(model, slots))


class Decoder:
    """The model on a runner. `forward` is a prefill, and with one token the decoding of it.

    runner: EmulatedArrays or DeviceArrays. weights: by name, arrays or handles of the runner (see weights.py). slots:
    rows of the key/value cache, and so the longest prompt.
    """

    def __init__(self, runner, model: Model, weights: Mapping, configuration: Configuration, slots: int):
        _check_model(model)
        self.runner, self.model, self.slots = runner, model, slots
        self.builds = self._built(configuration)
        self.weights = placed(runner, model, weights)
        runner.require(array_bytes(model, slots), f"activations and cache for {slots} tokens")
        shapes = array_shapes(model, slots)
        self.arrays = {name: runner.allocate(shape, dtype) for name, (shape, dtype) in shapes.items()}
        self.named = self.weights | self.arrays
        self.filled = 0

    def using(self, configuration: Configuration) -> "Decoder":
        """A decoder of other kernels on the same weights, activations and cache."""
        other = copy.copy(self)
        other.builds = self._built(configuration)
        return other

    def forward(self, tokens: np.ndarray, start: int = 0) -> np.ndarray:
        """Logits [vocabulary] f32 of the last of `tokens`, at positions from `start`, which the cache must reach to."""
        self.prepare(tokens, start)
        self.launch(self.passes(len(tokens), start))
        self.filled = start + len(tokens)
        return self.runner.read(self.arrays["logits"])[0]

    def prepare(self, tokens: np.ndarray, start: int = 0) -> None:
        """Check the tokens, and bring them and their positions to where the passes read them."""
        tokens = np.asarray(tokens)
        self._check(tokens, start)
        self.runner.write(self.arrays["tokens"], tokens.astype(np.int32))
        self.runner.write(self.arrays["positions"], np.arange(start, start + len(tokens), dtype=np.int32))

    def launch(self, passes: Sequence[Pass]) -> None:
        """Enqueue them in order."""
        for one in passes:
            self.runner.launch(one.build, one.tensors, one.dims)

    def passes(self, nt: int, start: int = 0) -> list[Pass]:
        """Every launch for nt tokens at positions from `start`, in order."""
        model = self.model
        tables = ["tokens", EMBEDDING, "x"]
        found = [self._pass("embedding", "embedding", tables, nt=nt, id=model.hidden, vocabulary=model.vocabulary)]
        for layer in range(model.layers):
            found += self._attention(layer, nt, start)
            found += self._feed_forward(layer, nt)
        return found + self._head(nt)

    def _attention(self, layer: int, nt: int, start: int) -> list[Pass]:
        """x += o(attention(q, k, v of norm(x)))."""
        model, prefix, cache = self.model, layer_prefix(layer), {"k": f"K cache {layer}", "v": f"V cache {layer}"}
        widths = {"q": model.q_width, "k": model.kv_width, "v": model.kv_width}
        found = [self._norm(prefix + "input_layernorm.weight", nt)]
        for name, width in widths.items():
            projection = f"{prefix}self_attn.{name}_proj"
            found.append(self._gemm(name, "normed", projection + ".weight", name, nt, width, model.hidden))
            found.append(self._pass("bias", "add_bias", [name, projection + ".bias", name], nt=nt, od=width))
        for name, heads in (("q", model.heads), ("k", model.kv_heads)):
            found.append(self._pass("rope", "rope", [name, "positions", name], nt=nt, nh=heads))
        for name, rows in cache.items():
            tensors = [name, "positions", rows]
            found.append(self._pass("store", "store_kv", tensors, nt=nt, nkt=widths[name], slots=self.slots))
        attended = ["q", cache["k"], cache["v"], "positions", "attended"]
        heads, o = {"nh": model.heads, "nk": model.kv_heads}, prefix + "self_attn.o_proj.weight"
        return [
            *found,
            self._pass("attention", "attention", attended, nt=nt, **heads, kv=start + nt),
            *self._gemm_of_f32("o", "attended", o, "projected", nt, model.hidden, widths["q"]),
            self._residual(nt),
        ]

    def _feed_forward(self, layer: int, nt: int) -> list[Pass]:
        """x += down(silu(gate) · up of norm(x))."""
        prefix, hidden, ff = layer_prefix(layer), self.model.hidden, self.model.feed_forward
        gate, up, down = (f"{prefix}mlp.{name}_proj.weight" for name in ("gate", "up", "down"))
        return [
            self._norm(prefix + "post_attention_layernorm.weight", nt),
            self._gemm("gate", "normed", gate, "gate", nt, ff, hidden),
            self._gemm("up", "normed", up, "up", nt, ff, hidden),
            self._pass("swiglu", "swiglu", ["gate", "up", "activated"], n=nt * ff),
            *self._gemm_of_f32("down", "activated", down, "projected", nt, hidden, ff),
            self._residual(nt),
        ]

    def _head(self, nt: int) -> list[Pass]:
        """Logits of the last row alone."""
        row = self.runner.row(self.arrays["x"], nt - 1)
        norm = self._pass("norm", "rms_norm", [row, FINAL_NORM, "normed"], nt=1, id=self.model.hidden)
        head = head_name(self.model)
        return [norm, self._gemm("head", "normed", head, "logits", 1, self.model.vocabulary, self.model.hidden)]

    def _norm(self, weight: str, nt: int) -> Pass:
        return self._pass("norm", "rms_norm", ["x", weight, "normed"], nt=nt, id=self.model.hidden)

    def _gemm(self, role: str, A: str, B: str, C: str, nt: int, od: int, id: int) -> Pass:
        return self._pass(role, "gemm", [A, B, C], nt=nt, od=od, id=id)

    def _gemm_of_f32(self, role: str, A: str, B: str, C: str, nt: int, od: int, id: int) -> list[Pass]:
        """A is rounded by a pass before the GEMM, or by the GEMM itself where the configuration has one that does."""
        if "gemm_af32" in self.builds:
            return [self._pass(role, "gemm_af32", [A, B, C], nt=nt, od=od, id=id)]
        rounded = f"{A}_f16"
        return [
            self._pass("convert", "convert", [A, rounded], n=nt * id),
            self._gemm(role, rounded, B, C, nt, od, id),
        ]

    def _residual(self, nt: int) -> Pass:
        return self._pass("residual", "add_bias", ["x", "projected", "x"], nt=1, od=nt * self.model.hidden)

    def _pass(self, role: str, kind: str, tensors: Sequence, **dims: int) -> Pass:
        """tensors: names of arrays and weights, or handles."""
        handles = [self.named[tensor] if isinstance(tensor, str) else tensor for tensor in tensors]
        return Pass(role, kind, self.builds[kind], handles, dims)

    def _built(self, configuration: Configuration) -> dict[str, Build]:
        wanted = {"attention": f"attention_hd{self.model.head_dim}", "rope": f"rope_hd{self.model.head_dim}"}
        for kind, contract in wanted.items():
            kernel = configuration.kernels[kind]
            if kernel.contract.name != contract:
                raise Refusal(f"{kernel} computes {kernel.contract.name}: the model's heads need {contract}")
        return {kind: build(kernel, self.runner.arch) for kind, kernel in configuration.kernels.items()}

    def _check(self, tokens: np.ndarray, start: int) -> None:
        if tokens.ndim != 1 or not len(tokens):
            raise Refusal(f"a prompt of shape {tokens.shape}: it must be a row of one token or more")
        if tokens.dtype.kind not in "iu":
            raise Refusal(f"tokens of {tokens.dtype}: they must be whole numbers")
        if tokens.min() < 0 or tokens.max() >= self.model.vocabulary:
            outside = tokens[(tokens < 0) | (tokens >= self.model.vocabulary)]
            raise Refusal(f"token {outside[0]} is outside the vocabulary of {self.model.vocabulary}")
        if not 0 <= start <= self.filled:
            raise Refusal(f"start = {start}: the cache holds {self.filled} positions so far")
        if start + len(tokens) > self.slots:
            raise Refusal(f"{len(tokens)} tokens from position {start} on: the cache has {self.slots} slots")


def _check_model(model: Model) -> None:
    """Refuse what the kernels do not compute."""
    if model.head_dim not in HEAD_DIMENSIONS:
        raise Refusal(f"heads of {model.head_dim} dimensions: the kernels have {HEAD_DIMENSIONS}")
    if model.heads % model.kv_heads:
        raise Refusal(f"{model.heads} query heads are not a multiple of {model.kv_heads} key heads")
    if model.rms_eps != EPSILON or model.rope_theta != THETA:
        raise Refusal(
            f"rms_eps = {model.rms_eps:g} and rope_theta = {model.rope_theta:g}:"
            f" the kernels have {EPSILON:g} and {THETA:g}"
        )
