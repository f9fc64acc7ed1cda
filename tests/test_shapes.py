"""The shapes of Qwen2.5-7B."""

from collections import Counter

from playground.shapes import QWEN25_7B, QWEN25_7B_ATTENTION, QWEN25_7B_PREFILL, attention, gemm


def test_a_layer_has_seven_gemms_in_four_shapes():
    """od×id over 2048 tokens, from the model's published configuration."""
    counted = Counter()
    for shape in QWEN25_7B_PREFILL:
        assert shape.dims["nt"] == 2048
        counted[shape.dims["od"], shape.dims["id"]] += len(shape.roles)
    assert counted == {(3584, 3584): 2, (512, 3584): 2, (18944, 3584): 2, (3584, 18944): 1}


def test_the_roles_are_the_layers_passes():
    roles = [role for shape in QWEN25_7B_PREFILL for role in shape.roles]
    assert sorted(roles) == ["down", "gate", "k", "o", "q", "up", "v"]


def test_the_heads_make_up_the_hidden_size():
    assert QWEN25_7B.heads * QWEN25_7B.head_dim == QWEN25_7B.hidden == 3584


def test_all_gemms_of_a_prefill_take_27_tflop():
    """2 · 2048 tokens · 233,046,016 weights of a layer's GEMMs · 28 layers."""
    weights = 2 * 3584 * 3584 + 2 * 512 * 3584 + 3 * 18944 * 3584
    layer = sum(len(s.roles) * 2 * s.dims["nt"] * s.dims["od"] * s.dims["id"] for s in QWEN25_7B_PREFILL)
    assert QWEN25_7B.layers * layer == 2 * 2048 * weights * 28


def test_a_shape_reads_as_its_lengths_and_roles():
    assert str(gemm(2048, 512, 3584, "k", "v")) == "2048×512×3584 (k, v)"
    assert str(gemm(1, 2, 8)) == "1×2×8"


def test_attention_is_timed_on_two_prompts_from_an_empty_cache():
    """Two prefills and no passes of one layer: no roles, each once in the sum."""
    assert [shape.dims for shape in QWEN25_7B_ATTENTION] == [
        {"nt": nt, "nh": 28, "nk": 4, "kv": nt} for nt in (512, 2048)
    ]
    assert [str(shape) for shape in QWEN25_7B_ATTENTION] == ["512×28×4×512", "2048×28×4×2048"]
    assert [len(shape.roles) for shape in QWEN25_7B_ATTENTION] == [1, 1]


def test_attention_over_a_longer_cache_says_so():
    assert str(attention(5, 6, 2, 40, "decode")) == "5×6×2×40 (decode)"
    assert attention(5, 6, 2).dims["kv"] == 5
