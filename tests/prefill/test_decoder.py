"""The decoder, emulated: a prefill and the tokens after it agree with float64, by every configuration; no hazard."""

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest

from playground.compiler.arch import arch_named
from playground.emulator.arrays import EmulatedArrays
from playground.errors import Refusal
from playground.kernels import gemm_f16_nt
from playground.measure import parity
from playground.prefill.configuration import CONFIGURATIONS, campaign
from playground.prefill.decoder import Decoder, array_bytes
from playground.prefill.listing import listed
from playground.prefill.reference import agreeing_logits, expected_logits
from playground.prefill.weights import random_weights, tensor_shapes, weight_bytes
from playground.runner import Outcome
from playground.shapes import QWEN25_7B, Model

TINY = Model(layers=1, hidden=64, heads=4, kv_heads=2, head_dim=64, feed_forward=72, vocabulary=136)
WIDE = replace(TINY, layers=2, heads=2, kv_heads=1, head_dim=128, tied=True)
TOKENS = np.random.default_rng(7).integers(0, 136, 68)
PROMPT = 65
LANDED = campaign(64)[-1]


@pytest.fixture
def arrays():
    return EmulatedArrays(arch_named("H200"))


def gate(model, weights, tokens, logits):
    return parity.check(Outcome({"logits": logits}), expected_logits(model, weights, tokens))


def check(arrays, model, configuration, parts):
    """Compare the logits after each part with float64."""
    weights = random_weights(arrays, model, seed=5)
    on_cpu = {name: arrays.read(handle) for name, handle in weights.items()}
    decoder = Decoder(arrays, model, weights, configuration, slots=72)
    for first, behind in itertools.pairwise(itertools.accumulate((0, *parts))):
        logits = decoder.forward(TOKENS[first:behind], start=first)
        found = gate(model, on_cpu, TOKENS[:behind], logits)
        assert found.passed, (first, behind, str(found))


@pytest.mark.parametrize(
    ("model", "configuration", "parts"),
    [(TINY, campaign(64)[0], (PROMPT, 1)), (WIDE, CONFIGURATIONS[-1], (20, 13, 1))],
    ids=["one layer, hd 64, 8p", "two layers, hd 128, padded"],
)
def test_a_prefill_and_what_is_decoded_after_it_agree_with_float64(arrays, model, configuration, parts):
    """A prompt whole or in two parts, the second over the cache of the first, then one token at a time."""
    check(arrays, model, configuration, parts)
    assert arrays.hazards == []


def test_a_gemm_that_rounds_its_operand_itself_changes_no_bit(arrays):
    weights = random_weights(arrays, TINY, seed=5)
    decoder = Decoder(arrays, TINY, weights, LANDED, slots=16)
    itself = decoder.using(LANDED.replace(gemm_af32=gemm_f16_nt(TM=64, KS=32, pad=8, AF32="mirror")))
    assert np.array_equal(decoder.forward(TOKENS[:9]), itself.forward(TOKENS[:9]))
    roles = [one.role for one in decoder.passes(9)]
    assert [one.role for one in itself.passes(9)] == [role for role in roles if role != "convert"]


@pytest.mark.gpu
@pytest.mark.parametrize("configuration", campaign(64), ids=lambda one: one.name)
def test_the_same_on_a_gpu_by_every_configuration(device, configuration):
    from playground.gpu.arrays import DeviceArrays

    model = Model(layers=3, hidden=512, heads=8, kv_heads=2, head_dim=64, feed_forward=1000, vocabulary=136)
    check(DeviceArrays(device), model, configuration, (40, 25, 1, 1))


def test_the_gate_tells_a_wrong_position_bias_or_head_from_rounding(arrays):
    weights = random_weights(arrays, TINY, seed=5)
    decoder = Decoder(arrays, TINY, weights, LANDED, slots=16)
    right = decoder.forward(TOKENS[:9])
    assert gate(TINY, weights, TOKENS[:9], right).worst < 1
    without_bias = weights | {"model.layers.0.self_attn.v_proj.bias": np.zeros(128, np.float32)}
    swapped = weights["model.layers.0.self_attn.k_proj.weight"].reshape(2, 64, 64)[::-1].reshape(128, 64).copy()
    for wrong in (without_bias, weights | {"model.layers.0.self_attn.k_proj.weight": swapped}):
        assert gate(TINY, wrong, TOKENS[:9], right).worst > 2
    assert gate(TINY, weights, TOKENS[[1, 0, *range(2, 9)]], right).worst > 2


def test_logits_that_are_not_numbers_agree_with_none():
    nothing = np.full(136, np.nan, np.float32)
    for ours, theirs in ((nothing, nothing), (nothing, np.ones(136)), (np.ones(136), nothing)):
        assert not parity.check(Outcome({"logits": ours}), agreeing_logits(TINY, theirs)).passed
    assert parity.check(Outcome({"logits": np.ones(136)}), agreeing_logits(TINY, np.full(136, 1.01))).passed


def test_a_pass_is_counted_as_the_models_configuration_says():
    """Of the 7B: 28 layers of 7 GEMMs, and the FLOP of them, of attention and of the head over 2048 tokens."""
    passes = listed(QWEN25_7B, CONFIGURATIONS[0], arch_named("H200"), nt=2048)
    flop = {kind: sum(one.work["flop"] for one in passes if one.kind == kind) for kind in ("gemm", "attention")}
    assert flop["gemm"] == 28 * 2 * 2048 * 233_046_016 + 2 * 152_064 * 3584
    assert flop["attention"] == 28 * 4 * 28 * 128 * 2048 * 2049 // 2
    assert sum(one.kind == "gemm" for one in passes) == 28 * 7 + 1


def test_the_7b_has_seven_billion_weights_in_15_gb():
    """The published number of parameters is 7,615,616,512."""
    sizes = {name: int(np.prod(shape)) for name, (shape, _) in tensor_shapes(QWEN25_7B).items()}
    assert sum(sizes.values()) == 7_615_616_512
    in_f32 = sum(size for name, size in sizes.items() if "norm" in name or "bias" in name)
    assert weight_bytes(QWEN25_7B) == 2 * 7_615_616_512 + 2 * in_f32


# ------------------------------------------------------------------------------------------------------------- refusals


def test_prompts_that_cannot_be_run_are_refused_with_the_numbers(arrays):
    decoder = Decoder(arrays, TINY, random_weights(arrays, TINY), LANDED, slots=4)
    for tokens, start, message in (
        (np.zeros(0, int), 0, "a prompt of shape (0,)"),
        (np.zeros(5, int), 0, "5 tokens from position 0 on: the cache has 4 slots"),
        (np.array([3, 136]), 0, "token 136 is outside the vocabulary of 136"),
        (np.array([3, -1]), 0, "token -1 is outside the vocabulary of 136"),
        (np.array([3.0]), 0, "tokens of float64"),
        (np.array([3]), 2, "start = 2: the cache holds 0 positions so far"),
    ):
        with pytest.raises(Refusal, match=re.escape(message)):
            decoder.forward(tokens, start)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (replace(TINY, head_dim=80), "heads of 80 dimensions: the kernels have (64, 128)"),
        (replace(TINY, kv_heads=3), "4 query heads are not a multiple of 3 key heads"),
        (replace(TINY, rms_eps=1e-5), "rms_eps = 1e-05 and rope_theta = 1e+06"),
        (replace(TINY, head_dim=128), "computes attention_hd64: the model's heads need attention_hd128"),
    ],
)
def test_models_that_the_kernels_do_not_compute_are_refused(arrays, model, message):
    with pytest.raises(Refusal, match=re.escape(message)):
        Decoder(arrays, model, {}, LANDED, slots=4)


def test_weights_that_do_not_fit_the_model_are_refused(arrays):
    weights = random_weights(arrays, TINY)
    name = "model.layers.0.mlp.down_proj.weight"
    wrong = weights | {name: weights[name].T}
    with pytest.raises(Refusal, match=re.escape(f"{name} is float16 [72, 64], the model needs float16 [64, 72]")):
        Decoder(arrays, TINY, wrong, LANDED, slots=4)
    del wrong[name]
    with pytest.raises(Refusal, match=f"1 of 15 tensors are missing, the first is {name}"):
        Decoder(arrays, TINY, wrong, LANDED, slots=4)


def test_what_does_not_fit_into_memory_is_refused_before_it_is_allocated(arrays):
    huge = replace(QWEN25_7B, layers=28_000)
    with pytest.raises(Refusal, match=f"{weight_bytes(huge):,} bytes needed to emulate it, [0-9,]+ are free"):
        random_weights(arrays, huge)
    with pytest.raises(Refusal, match=f"{array_bytes(TINY, 2**40):,} bytes needed"):
        Decoder(arrays, TINY, random_weights(arrays, TINY), LANDED, slots=2**40)


def test_a_kernel_of_another_contract_fits_no_pass():
    gemm, convert = LANDED.gemm, LANDED.convert
    with pytest.raises(Refusal, match="computes gemm_nt, the pass convert needs convert_f32_f16"):
        LANDED.replace(convert=gemm)
    assert LANDED.kind_of(convert) == "convert"
    assert LANDED.replace("mine", gemm=campaign(64)[0].gemm).gemm.parameters["TM"] == 64
