"""A Qwen2.5 directory, as Hugging Face has it: config.json and safetensors, whole or in shards, to weights and back.

What this project's kernels do not compute (another architecture, scaled rotations, sliding windows, an activation other
than SiLU) is refused rather than ignored, and so is every tensor that is missing, misshaped, or not known.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save_file

from playground.emulator.bfloat import widen
from playground.errors import Refusal
from playground.kernels.attention.contract import HEAD_DIMENSIONS
from playground.prefill.weights import HEAD, tensor_shapes
from playground.shapes import Model

CONFIG, WHOLE, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
ARCHITECTURE, MODEL_TYPE = "Qwen2ForCausalLM", "qwen2"
STORED = {"F16": np.float16, "F32": np.float32, "BF16": np.uint16}
"""The dtypes that a checkpoint may have, and what holds their bits: NumPy has no bfloat16."""

NUMBER = int | float

LENGTHS = {
    "layers": "num_hidden_layers",
    "hidden": "hidden_size",
    "heads": "num_attention_heads",
    "kv_heads": "num_key_value_heads",
    "feed_forward": "intermediate_size",
    "vocabulary": "vocab_size",
}
"""Model's field: its key in config.json."""

FIXED = {
    "hidden_act": "silu",
    "rope_scaling": None,
    "use_sliding_window": False,
    "quantization_config": None,
}
"""Keys that may be absent, and the only value that the kernels compute."""


def load(directory: Path) -> tuple[Model, dict[str, np.ndarray]]:
    """The model, and its weights by Hugging Face's names: matrices [out, in] f16, norms and biases f32.

    bfloat16 and f32 matrices are rounded to f16 (bfloat16 exactly, except below 2^-14); one that overflows is refused.
    """
    model = read_config(directory)
    wanted = tensor_shapes(model)
    weights = {}
    for path in _files(directory):
        for name, dtype, array in _tensors(path):
            if name == HEAD and model.tied:
                continue  # some checkpoints store the embedding twice
            if name not in wanted:
                raise Refusal(f"{path}: tensor {name} is not one of the {len(wanted)} of a {MODEL_TYPE} model")
            weights[name] = _as_wanted(f"{path}: tensor {name}", dtype, array, *wanted[name])
    if missing := wanted.keys() - weights.keys():
        raise Refusal(f"{directory}: {len(missing)} of {len(wanted)} tensors are missing, the first is {min(missing)}")
    return model, weights


def prepare(directory: Path) -> None:
    """Make sure, before the work, that a model can be saved in `directory` later."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(f"cannot write a model to {directory}: {error}") from error
    if not os.access(directory, os.W_OK):
        raise Refusal(f"cannot write a model to {directory}: it is read-only")


def save(
    directory: Path, model: Model, weights: Mapping[str, np.ndarray], metadata: Mapping[str, str] | None = None
) -> None:
    """Write config.json and model.safetensors, whose header holds `metadata`; refused if there is no room for them."""
    contiguous = {name: np.ascontiguousarray(weights[name]) for name in tensor_shapes(model)}
    config = {
        "architectures": [ARCHITECTURE],
        "model_type": MODEL_TYPE,
        **{key: getattr(model, field) for field, key in LENGTHS.items()},
        "head_dim": model.head_dim,
        "rms_norm_eps": model.rms_eps,
        "rope_theta": model.rope_theta,
        "tie_word_embeddings": model.tied,
        "hidden_act": FIXED["hidden_act"],
        "max_position_embeddings": 32768,
        "torch_dtype": "float32",  # what all tensors, f16 and f32, are read into without rounding
    }
    prepare(directory)
    try:
        save_file(contiguous, directory / WHOLE, {"format": "pt", **(metadata or {})})
        (directory / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    except (OSError, SafetensorError) as error:
        raise Refusal(f"cannot write a model to {directory}: {error}") from error


def read_config(directory: Path) -> Model:
    """The model that config.json describes, or a Refusal of what the kernels do not compute."""
    path = directory / CONFIG
    config = _json(path)
    named = (config.get("model_type"), *_typed(path, config, "architectures", list, []))
    if named not in ((MODEL_TYPE,), (MODEL_TYPE, ARCHITECTURE)):
        raise Refusal(f"{path}: the architecture is {', '.join(map(str, named))}, not {MODEL_TYPE}, {ARCHITECTURE}")
    for key, value in FIXED.items():
        if config.get(key, value) != value:
            raise Refusal(f"{path}: {key} = {json.dumps(config[key])} is not supported, only {json.dumps(value)}")
    rotation = _typed(path, config, "rope_parameters", dict, {})  # where newer files keep rope_theta
    if rotation.get("rope_type", "default") != "default":
        raise Refusal(f"{path}: rope_type = {rotation['rope_type']!r} is not supported, only 'default'")
    lengths = {field: _positive(path, config, key) for field, key in LENGTHS.items()}
    heads, kv_heads, hidden = lengths["heads"], lengths["kv_heads"], lengths["hidden"]
    if heads % kv_heads:
        raise Refusal(f"{path}: {heads} query heads are not a multiple of {kv_heads} key heads")
    head_dim = _typed(path, config, "head_dim", NUMBER, hidden / heads)
    if head_dim not in HEAD_DIMENSIONS:
        raise Refusal(f"{path}: head dimension {head_dim:g} is not supported: {HEAD_DIMENSIONS} are")
    return Model(
        **lengths,
        head_dim=int(head_dim),
        rms_eps=_typed(path, config, "rms_norm_eps", NUMBER, 1e-6),
        rope_theta=_typed(path, config, "rope_theta", NUMBER, _typed(path, rotation, "rope_theta", NUMBER, 1e4)),
        tied=_typed(path, config, "tie_word_embeddings", bool, False),
    )


def _typed(path: Path, config: Mapping, key: str, kind, default):
    """The value of a key that may be absent, or null; refused if it is of another type."""
    value = config.get(key)
    if not isinstance(value, kind | None):
        raise Refusal(f"{path}: {key} = {json.dumps(value)} is a {type(value).__name__}")
    return default if value is None else value


def _positive(path: Path, config: Mapping, key: str) -> int:
    length = config.get(key)
    if not isinstance(length, int) or isinstance(length, bool) or length < 1:
        raise Refusal(f"{path}: {key} = {length!r} is not a positive whole number")
    return length


def _files(directory: Path) -> Iterable[Path]:
    """The safetensors files: the one, or those that the index names."""
    if (directory / WHOLE).exists() or not (directory / INDEX).exists():
        return [directory / WHOLE]
    shards = _json(directory / INDEX).get("weight_map")
    if not isinstance(shards, dict) or not shards or not all(isinstance(shard, str) for shard in shards.values()):
        raise Refusal(f"{directory / INDEX}: no weight_map from tensors to files")
    return [directory / shard for shard in sorted(set(shards.values()))]


def _tensors(path: Path) -> Iterator[tuple[str, str, np.ndarray]]:
    """(name, dtype, array) of one file, which is read whole; bfloat16 is widened to f32."""
    content = _bytes(path)
    try:
        tensors = deserialize(content)
    except SafetensorError as error:
        raise Refusal(f"{path}: {len(content):,} bytes are not a whole safetensors file: {error}") from error
    for name, tensor in tensors:
        dtype = tensor["dtype"]
        if dtype not in STORED:
            raise Refusal(f"{path}: tensor {name} is {dtype}, not one of {', '.join(STORED)}")
        array = np.frombuffer(tensor["data"], STORED[dtype]).reshape(tensor["shape"])
        yield name, dtype, widen(array) if dtype == "BF16" else array


def _as_wanted(what: str, dtype: str, array: np.ndarray, shape: tuple[int, ...], wanted: str) -> np.ndarray:
    """The array in the dtype that the decoder takes; refused if its shape is another or a value is not finite in it."""
    if array.shape != tuple(shape):
        raise Refusal(f"{what} has shape {array.shape}, expected {tuple(shape)}")
    with np.errstate(over="ignore"):
        converted = array.astype(wanted)
    if not_finite := converted.size - np.count_nonzero(np.isfinite(converted)):
        largest = np.max(np.abs(array[~np.isfinite(converted)].astype(np.float32)))
        raise Refusal(f"{what}: {not_finite} values of {dtype} are not finite in {wanted}, the largest is {largest:g}")
    return converted


def _json(path: Path) -> dict:
    try:
        content = json.loads(_bytes(path))
    except (ValueError, RecursionError) as error:
        raise Refusal(f"{path}: not JSON: {error}") from error
    if not isinstance(content, dict):
        raise Refusal(f"{path}: a {type(content).__name__}, not an object")
    return content


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Refusal(f"cannot read {path}: {error.strerror}") from error
