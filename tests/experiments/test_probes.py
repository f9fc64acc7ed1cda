"""Every experiment module, and the claims of the GEMM's against the seeds' figures."""

import importlib
import re

import pytest

import experiments
from playground import Probe
from playground.errors import Refusal
from playground.kernels import gemm_f16_nt
from playground.shapes import QWEN25_7B_PREFILL


@pytest.mark.parametrize("name", experiments.names())
def test_a_module_is_one_probe_with_a_question_and_predictions(name):
    module = importlib.import_module(f"experiments.{name}")
    probe = experiments.load(name)
    assert isinstance(probe, Probe)
    assert probe is module.probe
    assert "source" in module.__doc__
    assert probe.question.endswith("?")
    assert len(probe.candidates) >= 1
    assert len(probe.shapes) >= 1
    for prediction in probe.predictions:
        assert 0 < prediction.low < prediction.high
        assert prediction.because


@pytest.mark.parametrize("name", [name for name in experiments.names() if experiments.load(name).claim])
def test_a_claim_names_its_gpu_its_verdict_and_its_source(name):
    claim = experiments.load(name).claim
    assert claim.gpu == "GB10" and "GB10" in importlib.import_module(f"experiments.{name}").__doc__
    assert claim.verdict in ("landed", "reverted")
    assert re.match(r"seed 00[01]\b", claim.source)


@pytest.mark.parametrize("name", experiments.names())
def test_the_variants_of_a_probe_differ_from_one_another(name):
    labels = [str(kernel) for kernel in experiments.load(name).kernels]
    assert len(set(labels)) == len(labels)


def test_the_probes_of_the_gemm_are_there():
    assert {"gemm_tm128", "gemm_ks64", "gemm_tm256", "gemm_af32"} <= set(experiments.names())
    assert experiments.names() == sorted(experiments.names())


@pytest.mark.parametrize(
    ("name", "effect", "level", "verdict"),
    [
        ("gemm_tm128", 455 / 302 - 1, "kernel", "landed"),  # seed 000, §2.1: "Kernel time 455 → 302 ms (−34%)"
        ("gemm_ks64", -0.38, "wall", "reverted"),  # §3.3: "1464 vs 2345 tok/s (−38%)"
        ("gemm_tm256", -0.03, "wall", "reverted"),  # §3.3: "a wider tile hit the same wall, −3%"
        ("gemm_af32", -0.08, "wall", "reverted"),  # §3.3: "end-to-end −8%"
    ],
)
def test_a_claim_is_what_the_seed_says(name, effect, level, verdict):
    claim = experiments.load(name).claim
    assert claim.effect == pytest.approx(effect, abs=5e-4)
    assert (claim.level, claim.verdict) == (level, verdict)


def test_the_claim_on_the_wall_follows_from_the_seeds_tokens_per_second():
    assert round(1464 / 2345 - 1, 2) == experiments.load("gemm_ks64").claim.effect


@pytest.mark.parametrize(
    ("name", "baseline", "candidates"),
    [
        ("gemm_tm128", {"TM": 64, "KS": 32}, [{"TM": 128, "KS": 32}]),
        ("gemm_ks64", {"TM": 128, "KS": 32}, [{"TM": 128, "KS": 64}]),
        ("gemm_tm256", {"TM": 128, "KS": 32}, [{"TM": 256, "KS": 32, "warps": 16}, {"TM": 256, "KS": 32, "warps": 8}]),
    ],
)
def test_a_probe_changes_what_its_name_says_over_the_gemms_of_a_prefill(name, baseline, candidates):
    probe = experiments.load(name)
    assert str(probe.baseline) == str(gemm_f16_nt(**baseline))
    assert [str(candidate) for candidate in probe.candidates[: len(candidates)]] == [
        str(gemm_f16_nt(**parameters)) for parameters in candidates
    ]
    assert probe.shapes == QWEN25_7B_PREFILL
    assert probe.bar == 0.015


def test_af32_compares_whole_passes():
    """597 ms of GEMM and 56 ms of convert (seed 000, §5) are three quarters of 2048 tokens at 2355 tok/s."""
    probe = experiments.load("gemm_af32")
    assert [step.kernel.name for step in probe.baseline.steps] == ["convert_f32_f16", "gemm_f16_nt"]
    schemes = [str(gemm_f16_nt(TM=128, KS=32, AF32=AF32)) for AF32 in ("sync", "mirror")]
    assert [str(candidate) for candidate in probe.candidates] == schemes
    assert probe.shapes == QWEN25_7B_PREFILL
    assert probe.share.fraction == pytest.approx(0.75, abs=0.01)


@pytest.mark.parametrize(
    ("typed", "meant"), [("gemm_tm12", "gemm_tm128"), ("gemm_k64", "gemm_ks64"), ("tm256", "gemm_tm256")]
)
def test_an_unknown_probe_is_refused_with_a_near_match(typed, meant):
    with pytest.raises(Refusal, match=rf"unknown probe '{typed}': did you mean {meant}\?"):
        experiments.load(typed)
