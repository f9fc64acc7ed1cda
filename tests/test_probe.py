"""Probes: what they refuse, and what a run without a GPU records."""

from dataclasses import replace

import pytest

import experiments
from playground.errors import Refusal
from playground.kernels.l2_sweep import l2_sweep
from playground.report.narrator import Narrator, console
from playground.shapes import gemm
from playground.walk import Options, gates_held, walk


def test_a_candidate_that_computes_something_else_is_refused():
    probe = experiments.load("gemm_tm128")
    with pytest.raises(Refusal, match=r"l2_sweep.*gemm_nt"):
        replace(probe, candidates=[l2_sweep()])


def test_the_kernels_are_the_baseline_first():
    probe = experiments.load("gemm_tm256")
    assert probe.kernels == (probe.baseline, *probe.candidates)


@pytest.mark.parametrize(
    ("gates", "held"),
    [
        ([], True),
        ([{"a": True}, {"a": True}], True),
        ([{"a": True, "b": False}, {"a": True}], False),
        ([{"a": True}, {"a": False}], False),
    ],
)
def test_the_gates_held_only_if_every_variant_passed_on_every_shape(gates, held):
    shapes = [{"parity": {name: {"passed": passed} for name, passed in shape.items()}} for shape in gates]
    clean = [{"parity": {"a": {"passed": True}}, "hazards": {"a": []}}]
    assert gates_held({"emulated": [], "shapes": shapes}) is held
    assert gates_held({"emulated": clean, "shapes": shapes}) is held
    emulated = [{**shape, "hazards": {}} for shape in shapes]
    assert gates_held({"emulated": emulated, "shapes": []}) is held


def test_a_hazard_fails_the_gate_although_the_result_is_right():
    """DESIGN.md: "a missing barrier often leaves the result right"."""
    emulated = [{"parity": {"a": {"passed": True}}, "hazards": {"a": [{"kind": "race"}]}}]
    assert gates_held({"emulated": emulated, "shapes": []}) is False


def test_a_pipeline_is_walked_as_a_kernel_is(capsys):
    probe = experiments.load("gemm_af32")
    record = walk("gemm_af32", probe, Options(None, shapes=[gemm(65, 130, 40)]), Narrator(console()))
    assert gates_held(record)
    both, sync, mirror = record["variants"]
    assert [step["label"] for step in both["steps"]] == [str(step.kernel) for step in probe.baseline.steps]
    assert [step["ledgers"]["H200"]["dynamic_shared"] for step in both["steps"]] == [0, 32_768]
    assert "ledgers" not in both and "steps" not in sync and mirror["ledgers"]["H200"]["dynamic_shared"] == 32_768
    (emulated,) = record["emulated"]
    launched = [str(kernel) for kernel in (*probe.kernels, *probe.controls)]
    assert list(emulated["parity"]) == list(emulated["counts"]) == launched
    assert set(record["floors"][0]["gpus"]["H200"]) == set(launched[:3])
    printed = capsys.readouterr().out
    for step in probe.baseline.steps:
        assert f"\n{step.kernel} " in printed  # its row of the ledger
