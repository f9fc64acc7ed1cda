"""A Qwen2.5 directory: what is saved is loaded, whole, in shards or in bfloat16; what is not computed is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest
from safetensors import TensorSpec, serialize_file
from safetensors.numpy import load_file, save_file

from playground.errors import Refusal
from playground.prefill import checkpoint
from playground.prefill.small import BYTES_2M
from playground.prefill.small.initial import initial
from playground.prefill.weights import tensor_shapes
from playground.shapes import Model

TINY = Model(layers=1, hidden=128, heads=2, kv_heads=1, head_dim=64, feed_forward=64, vocabulary=40, tied=True)
EMBEDDING = "model.embed_tokens.weight"
Q_BIAS = "model.layers.0.self_attn.q_proj.bias"


def weights_of(model):
    shapes = tensor_shapes(model)
    return {name: array.astype(shapes[name][1]) for name, array in initial(model, seed=1).items()}


@pytest.fixture
def directory(tmp_path):
    checkpoint.save(tmp_path, TINY, weights_of(TINY))
    return tmp_path


def configure(directory, **changed):
    path = directory / "config.json"
    config = json.loads(path.read_text()) | changed
    path.write_text(json.dumps({key: value for key, value in config.items() if value != "absent"}))


def replace_tensors(directory, **changed):
    """Other tensors in the file: None takes one out."""
    tensors = load_file(directory / "model.safetensors") | {name.replace("__", "."): a for name, a in changed.items()}
    save_file({name: array for name, array in tensors.items() if array is not None}, directory / "model.safetensors")


def refused(directory):
    with pytest.raises(Refusal) as caught:
        checkpoint.load(directory)
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(f"{directory}/", "")


@pytest.mark.parametrize("tied", [True, False])
def test_what_is_saved_is_loaded(tied, tmp_path):
    model = replace(TINY, tied=tied)
    weights = weights_of(model)
    checkpoint.save(tmp_path, model, weights)
    loaded_model, loaded = checkpoint.load(tmp_path)
    assert loaded_model == model
    assert ("lm_head.weight" in loaded) is not tied
    assert loaded.keys() == weights.keys()
    for name, array in weights.items():
        assert loaded[name].dtype == array.dtype
        assert np.array_equal(loaded[name], array)


def test_the_small_model_takes_at_most_4_mb(tmp_path):
    checkpoint.save(tmp_path, BYTES_2M, weights_of(BYTES_2M))
    assert (tmp_path / "model.safetensors").stat().st_size <= 4_000_000


def test_shards_are_loaded_as_the_whole(directory):
    _, whole = checkpoint.load(directory)
    names, file = sorted(whole), {}
    for number, part in enumerate((names[::2], names[1::2]), 1):
        shard = f"model-0000{number}-of-00002.safetensors"
        save_file({name: whole[name] for name in part}, directory / shard)
        file |= dict.fromkeys(part, shard)
    (directory / "model.safetensors").unlink()
    (directory / "model.safetensors.index.json").write_text(json.dumps({"weight_map": file}))
    _, loaded = checkpoint.load(directory)
    assert all(np.array_equal(loaded[name], whole[name]) for name in names)
    (directory / shard).unlink()
    assert refused(directory) == f"cannot read {shard}: No such file or directory"
    (directory / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {names[0]: 1}}))
    assert refused(directory) == "model.safetensors.index.json: no weight_map from tensors to files"


def save_as_bfloat16(directory, embedding):
    """The file with an embedding of bfloat16, its bits by truncation."""
    tensors = weights_of(TINY) | {EMBEDDING: (embedding.view(np.uint32) >> 16).astype("u2")}
    specs = {
        name: TensorSpec(
            dtype="bfloat16" if name == EMBEDDING else array.dtype.name,
            shape=array.shape,
            data_ptr=array.ctypes.data,
            data_len=array.nbytes,
        )
        for name, array in tensors.items()
    }
    serialize_file(specs, directory / "model.safetensors")


def test_bfloat16_is_converted_to_f16_exactly_and_refused_where_it_overflows(directory):
    embedding = np.full((40, 128), -1.3984375, np.float32)  # 8 bits of significand: 1.0110011
    save_as_bfloat16(directory, embedding)
    _, weights = checkpoint.load(directory)
    assert weights[EMBEDDING].dtype == np.float16
    assert np.all(weights[EMBEDDING] == -1.3984375)
    embedding[3, 5] = -(2.0**17)
    save_as_bfloat16(directory, embedding)
    found = "1 values of BF16 are not finite in float16, the largest is 131072"
    assert refused(directory) == f"model.safetensors: tensor {EMBEDDING}: {found}"


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (
            {"model_type": "llama", "architectures": ["LlamaForCausalLM"]},
            "architecture is llama, LlamaForCausalLM, not",
        ),
        ({"architectures": ["Qwen2ForTokenClassification"]}, "architecture is qwen2, Qwen2ForTokenClassification, not"),
        ({"model_type": "absent", "architectures": "absent"}, "architecture is None, not qwen2"),
        ({"rope_scaling": {"type": "yarn", "factor": 4.0}}, 'rope_scaling = {"type": "yarn", "factor": 4.0} is not'),
        ({"rope_parameters": {"rope_type": "yarn"}}, "rope_type = 'yarn' is not supported"),
        ({"use_sliding_window": True}, "use_sliding_window = true is not supported, only false"),
        ({"hidden_act": "gelu"}, 'hidden_act = "gelu" is not supported, only "silu"'),
        ({"quantization_config": {"bits": 4}}, 'quantization_config = {"bits": 4} is not supported'),
        ({"architectures": 1}, "architectures = 1 is a int"),
        ({"rope_parameters": []}, "rope_parameters = [] is a list"),
        ({"rope_theta": None, "rope_parameters": {"rope_theta": "1e6"}}, 'rope_theta = "1e6" is a str'),
        ({"rms_norm_eps": "1e-6"}, 'rms_norm_eps = "1e-6" is a str'),
        ({"tie_word_embeddings": "false"}, 'tie_word_embeddings = "false" is a str'),
        ({"head_dim": "128"}, 'head_dim = "128" is a str'),
        ({"head_dim": 96}, "head dimension 96 is not supported: (64, 128) are"),
        ({"head_dim": "absent", "num_attention_heads": 3, "num_key_value_heads": 3}, "head dimension 42.6667 is not"),
        ({"num_key_value_heads": 3}, "2 query heads are not a multiple of 3 key heads"),
        ({"hidden_size": "absent"}, "hidden_size = None is not a positive whole number"),
        ({"vocab_size": 0}, "vocab_size = 0 is not a positive whole number"),
        ({"vocab_size": 41}, f"tensor {EMBEDDING} has shape (40, 128), expected (41, 128)"),
        ({"num_hidden_layers": 2}, "12 of 26 tensors are missing, the first is model.layers.1.input_layernorm.weight"),
        ({"tie_word_embeddings": False}, "1 of 15 tensors are missing, the first is lm_head.weight"),
    ],
)
def test_a_configuration_that_is_not_computed_is_refused(changed, says, directory):
    configure(directory, **changed)
    assert says in refused(directory)


def test_newer_configurations_keep_theta_elsewhere(directory):
    for elsewhere in ("absent", None):
        configure(directory, rope_theta=elsewhere, rope_parameters={"rope_type": "default", "rope_theta": 1e6})
        assert checkpoint.load(directory)[0] == TINY


@pytest.mark.parametrize(
    ("name", "array", "says"),
    [
        (Q_BIAS, None, f"1 of 14 tensors are missing, the first is {Q_BIAS}"),
        (Q_BIAS, np.zeros((1, 128), np.float32), f"tensor {Q_BIAS} has shape (1, 128), expected (128,)"),
        (Q_BIAS, np.zeros(128, np.float64), f"tensor {Q_BIAS} is F64, not one of F16, F32, BF16"),
        (Q_BIAS, np.full(128, np.nan, np.float32), "128 values of F32 are not finite in float32, the largest is nan"),
        ("q_norm.weight", np.zeros(8, np.float32), "tensor q_norm.weight is not one of the 14 of a qwen2 model"),
    ],
)
def test_a_wrong_tensor_is_refused(name, array, says, directory):
    replace_tensors(directory, **{name: array})
    assert says in refused(directory)


def test_an_embedding_that_is_stored_twice_is_taken_once(directory):
    replace_tensors(directory, **{"lm_head.weight": np.zeros((40, 128), np.float16)})
    assert "lm_head.weight" not in checkpoint.load(directory)[1]


def test_a_directory_that_cannot_be_written_is_refused(directory):
    with pytest.raises(Refusal, match=r"cannot write a model to .*/config.json: .*File exists"):
        checkpoint.save(directory / "config.json", TINY, weights_of(TINY))
    with pytest.raises(Refusal, match=r"cannot write a model to .*/config.json/below: .*Not a directory"):
        checkpoint.prepare(directory / "config.json" / "below")
    (directory / "model.safetensors").unlink()
    (directory / "model.safetensors").mkdir()
    with pytest.raises(Refusal, match=r"cannot write a model to .*Is a directory"):
        checkpoint.save(directory, TINY, weights_of(TINY))


def test_files_that_are_missing_or_torn_are_refused(directory):
    path = directory / "model.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    assert refused(directory).startswith(
        f"model.safetensors: {len(whole) - 1:,} bytes are not a whole safetensors file"
    )
    path.unlink()
    assert refused(directory) == "cannot read model.safetensors: No such file or directory"
    (directory / "config.json").write_text('{"model_type": ')
    assert refused(directory).startswith("config.json: not JSON")
    (directory / "config.json").unlink()
    assert refused(directory) == "cannot read config.json: No such file or directory"
