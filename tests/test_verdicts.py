"""From the samples of several shapes to verdicts: on each, on the layer, and on the wall."""

from dataclasses import replace

import numpy as np
import pytest

import experiments
from playground import Prediction
from playground.verdicts import judge

PROBE = experiments.load("gemm_tm128")
BASELINE, CANDIDATE = (str(kernel) for kernel in PROBE.kernels)


def shape(roles, baseline, candidate, rounds=24):
    """The record of a shape whose every launch took the given µs."""
    samples = {BASELINE: [baseline] * rounds, "A/A": [baseline] * rounds}
    if candidate is not None:
        samples[CANDIDATE] = [candidate] * rounds
    return {"roles": roles, "samples_us": samples}


def test_the_layer_counts_each_shape_as_often_as_the_layer_has_it():
    """q and o: 2 · 100 µs against 2 · 80; down: 200 against 220. The layer: 400 against 380."""
    judged = judge(PROBE, [shape(["q", "o"], 100.0, 80.0), shape(["down"], 200.0, 220.0)], "NVIDIA H200")[CANDIDATE]
    assert judged["ratio"]["median"] == pytest.approx(400 / 380)
    assert judged["verdict"] == "landed"
    assert [one["ratio"]["median"] for one in judged["per_shape"]] == pytest.approx([100 / 80, 200 / 220])
    assert [one["verdict"] for one in judged["per_shape"]] == ["landed", "reverted"]


def test_the_wall_moves_only_by_the_share_that_the_kernels_have_in_it():
    probe = replace(PROBE, share=replace(PROBE.share, fraction=0.1))
    judged = judge(probe, [shape(["q"], 112.0, 100.0)], "NVIDIA H200")[CANDIDATE]
    assert judged["verdict"] == "landed"
    assert judged["wall"]["ratio"]["median"] == pytest.approx(1 / (0.9 + 0.1 * 100 / 112))
    assert judged["wall"]["verdict"] == "no difference"


def test_the_layer_takes_the_rounds_that_all_shapes_have():
    judged = judge(PROBE, [shape(["q"], 100.0, 80.0, rounds=24), shape(["k"], 100.0, 80.0, rounds=30)], "NVIDIA H200")
    assert judged[CANDIDATE]["ratio"]["median"] == pytest.approx(1.25)


def test_a_candidate_that_was_not_timed_on_every_shape_gets_no_verdict():
    assert judge(PROBE, [shape(["q"], 100.0, 80.0), shape(["k"], 100.0, None)], "NVIDIA H200") == {}
    assert judge(PROBE, [shape(["q"], 100.0, 80.0), {"roles": ["k"]}], "NVIDIA H200") == {}


@pytest.mark.parametrize(
    ("gpu", "candidate", "outcome"),
    [
        ("NVIDIA H200", 100 / 1.2, "held"),
        ("NVIDIA H200", 100 / 1.5, "missed"),
        ("NVIDIA H200", 100 / 1.05, "missed"),
        ("NVIDIA RTX 4090", 100 / 1.2, "none"),
    ],
)
def test_a_prediction_is_checked_against_the_median_on_its_gpu(gpu, candidate, outcome):
    probe = replace(PROBE, predictions=[Prediction("H200", 1.1, 1.4, "a test")])
    assert judge(probe, [shape(["q"], 100.0, candidate)], gpu)[CANDIDATE]["prediction"] == outcome


def test_only_the_first_candidate_was_predicted():
    probe = experiments.load("gemm_tm256")
    labels = [str(kernel) for kernel in probe.kernels]
    samples = {label: list(np.full(24, 100.0)) for label in (*labels, "A/A")}
    judged = judge(probe, [{"roles": ["q"], "samples_us": samples}], "NVIDIA H200")
    assert judged[labels[1]]["prediction"] in ("held", "missed")
    assert judged[labels[2]]["prediction"] is None
