"""From the samples of several shapes to verdicts: on each, on the layer, and on the wall."""

import numpy as np
import pytest

import experiments
from playground.measure import layer_verdict

PROBE = experiments.load("gemm_tm128")
BASELINE, CANDIDATE = (str(kernel) for kernel in PROBE.kernels)


def shape(roles, baseline, candidate, rounds=24):
    """The record of a shape whose every launch took the given µs."""
    samples = {BASELINE: [baseline] * rounds, "A/A": [baseline] * rounds}
    if candidate is not None:
        samples[CANDIDATE] = [candidate] * rounds
    return {"roles": roles, "samples_us": samples}


def judge(probe, shapes, gpu="NVIDIA H200", **changed):
    """The verdicts on a record of that probe."""
    record = {
        "bar": probe.bar,
        "share": None,
        "predictions": [vars(prediction) for prediction in probe.predictions],
        "gpu": {"name": gpu},
        "variants": [{"label": str(kernel)} for kernel in probe.kernels],
        "shapes": shapes,
    }
    return layer_verdict.judge(record | changed)


def test_the_layer_counts_each_shape_as_often_as_the_layer_has_it():
    """q and o: 2 · 100 µs against 2 · 80; down: 200 against 220. The layer: 400 against 380."""
    judged = judge(PROBE, [shape(["q", "o"], 100.0, 80.0), shape(["down"], 200.0, 220.0)])[CANDIDATE]
    assert judged["ratio"]["median"] == pytest.approx(400 / 380)
    assert judged["verdict"] == "landed"
    assert [one["ratio"]["median"] for one in judged["per_shape"]] == pytest.approx([100 / 80, 200 / 220])
    assert [one["verdict"] for one in judged["per_shape"]] == ["landed", "reverted"]


def test_the_wall_moves_only_by_the_share_that_the_kernels_have_in_it():
    judged = judge(PROBE, [shape(["q"], 112.0, 100.0)], share={"fraction": 0.1, "source": "a test"})[CANDIDATE]
    assert judged["verdict"] == "landed"
    assert judged["wall"]["ratio"]["median"] == pytest.approx(1 / (0.9 + 0.1 * 100 / 112))
    assert judged["wall"]["verdict"] == "no difference"


def test_without_a_share_there_is_no_verdict_on_the_wall():
    assert judge(PROBE, [shape(["q"], 112.0, 100.0)])[CANDIDATE]["wall"] is None


def test_a_record_without_times_has_no_verdict():
    assert judge(PROBE, [], gpu=None) == {}


def test_the_layer_takes_the_rounds_that_all_shapes_have():
    judged = judge(PROBE, [shape(["q"], 100.0, 80.0, rounds=24), shape(["k"], 100.0, 80.0, rounds=30)])
    assert judged[CANDIDATE]["ratio"]["median"] == pytest.approx(1.25)


def test_a_candidate_that_was_not_timed_on_every_shape_gets_no_verdict():
    assert judge(PROBE, [shape(["q"], 100.0, 80.0), shape(["k"], 100.0, None)]) == {}
    assert judge(PROBE, [shape(["q"], 100.0, 80.0), {"roles": ["k"]}]) == {}


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
    predictions = [{"gpu": "H200", "low": 1.1, "high": 1.4, "because": "a test"}]
    judged = judge(PROBE, [shape(["q"], 100.0, candidate)], gpu, predictions=predictions)[CANDIDATE]
    assert judged["prediction"] == outcome


def test_only_the_first_candidate_was_predicted():
    probe = experiments.load("gemm_tm256")
    labels = [str(kernel) for kernel in probe.kernels]
    samples = {label: list(np.full(24, 100.0)) for label in (*labels, "A/A")}
    judged = judge(probe, [{"roles": ["q"], "samples_us": samples}])
    assert judged[labels[1]]["prediction"] in ("held", "missed")
    assert judged[labels[2]]["prediction"] is None


def test_the_upper_bound_is_the_whole_over_what_is_left_of_it():
    """q and o: 2 · 100 µs, of which the first step takes 20; down: 200, of which 60. So 400 of 400 − 100."""
    first, shapes = "first step", [shape(["q", "o"], 100.0, 90.0), shape(["down"], 200.0, 190.0)]
    for one, microseconds in zip(shapes, (20.0, 60.0)):
        one["beginnings_us"] = {first: [microseconds] * 24}
    record = {"variants": [{"label": BASELINE}], "shapes": shapes, "share": {"fraction": 0.5}}
    bound = layer_verdict.upper_bounds(record)[first]
    assert bound["ratio"]["median"] == pytest.approx(400 / 300)
    assert bound["wall"]["median"] == pytest.approx(800 / 700)  # as long again beside it
    assert layer_verdict.upper_bounds(record | {"share": None})[first]["wall"] is None
    shapes[0]["beginnings_us"][first][-1] = 150.0  # in one round 2 · 150 + 60 of 400, and in another all of it
    assert layer_verdict.upper_bounds(record)
    shapes[0]["beginnings_us"][first][0] = 170.0
    assert layer_verdict.upper_bounds(record) == {}
    del shapes[1]["beginnings_us"]  # not timed on every shape: nothing is said of the layer
    assert layer_verdict.upper_bounds(record) == {}
