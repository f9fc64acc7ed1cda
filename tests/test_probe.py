"""Probes: what they refuse, and what a run without a GPU records."""

from dataclasses import replace

import pytest

import experiments
from playground.errors import Refusal
from playground.kernels.l2_sweep import l2_sweep
from playground.walk import gates_held


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
