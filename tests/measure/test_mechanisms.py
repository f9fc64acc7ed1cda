"""Marks of mechanisms: the rules on records whose effects are known, and every probe's claims without a GPU."""

import json

import numpy as np
import pytest

import experiments
from playground import Counted, InLedger, Mechanism, Prediction, Refusal, UpperBound
from playground.measure import mechanisms
from playground.measure.figures import FIGURES
from playground.report.marks import mark_line
from playground.report.record import dumps

BASELINE, CANDIDATE, BASELINE_WITHOUT, CANDIDATE_WITHOUT = "b", "c", "b'", "c'"
NOISE = 1 + 0.002 * np.tile([-1, 1], 50)


def record(gpu="NVIDIA H200", **times):
    """A run on one shape in which every launch of a side took the given µs, give or take 0.2 %."""
    sides = {"b": 100.0, "A/A": 100.0} | times
    samples = {side: list(time * np.roll(NOISE, place // 2)) for place, (side, time) in enumerate(sides.items())}
    return {
        "gpu": gpu and {"name": gpu},
        "bar": 0.015,
        "emulated": [],
        "variants": [{"label": label, "ledgers": {}} for label in (BASELINE, CANDIDATE)],
        "shapes": [{"roles": ["q"], "samples_us": samples}] if gpu else [],
    }


CONTROL_RUN = {
    "kind": "control run",
    "baseline": BASELINE,
    "candidate": CANDIDATE,
    "without": [BASELINE_WITHOUT, CANDIDATE_WITHOUT],
}


def judged(found, test):
    (one,) = mechanisms.judge(found, [{"says": "it is so", "source": "a test", "test": test}])
    json.loads(dumps(one))  # it goes into a record
    assert all(mark_line(one, mark) for mark in one["marks"])
    return one["marks"]


@pytest.mark.parametrize(
    ("candidate", "without", "mark"),
    [
        # a gain of 4; without the cause, in logarithms: nothing, two fifths, three fifths, all of it
        (25, (50, 50), "supported"),
        (25, (50, 50 / 4**0.4), "supported"),
        (25, (50, 50 / 4**0.6), "refuted"),
        (25, (50, 12.5), "refuted"),
        # a loss to a half; without the cause: none, a gain, two fifths, three fifths, more than with it
        (200, (50, 50), "supported"),
        (200, (50, 40), "supported"),
        (200, (50, 50 * 2**0.4), "supported"),
        (200, (50, 50 * 2**0.6), "refuted"),
        (200, (50, 150), "refuted"),
    ],
)
def test_a_control_run_asks_whether_half_of_the_effect_is_left(candidate, without, mark):
    (found,) = judged(record(**{"c": candidate, "b'": without[0], "c'": without[1]}), CONTROL_RUN)
    assert (found["gpu"], found["mark"]) == ("NVIDIA H200", mark)
    assert found["effect"]["median"] == pytest.approx(100 / candidate, rel=0.005)
    assert found["effect_without"]["median"] == pytest.approx(without[0] / without[1], rel=0.005)
    assert found["removal_from_baseline"]["median"] == pytest.approx(100 / without[0], rel=0.005)
    assert found["removal_from_candidate"]["median"] == pytest.approx(candidate / without[1], rel=0.005)
    assert found["interaction"]["median"] == pytest.approx(100 / candidate * without[1] / without[0], rel=0.01)


def test_an_interval_that_contains_one_half_is_inconclusive_and_keeps_its_numbers():
    (found,) = judged(record(**{"c": 25, "b'": 50, "c'": 25}), CONTROL_RUN)
    assert (found["mark"], found["why"]) == ("untested", "inconclusive: the interval contains the edge")
    assert found["effect_without"]["median"] == pytest.approx(2, rel=0.005)


def test_an_effect_within_the_bar_leaves_nothing_to_explain():
    (found,) = judged(record(**{"c": 99.5, "b'": 50, "c'": 25}), CONTROL_RUN)
    assert found["mark"] == "untested"
    assert found["why"].startswith("nothing to explain: no difference")


@pytest.mark.parametrize(
    ("found", "why"),
    [(record(gpu=None), "no GPU"), (record(c=25.0), "b': not timed on every shape")],
)
def test_a_control_run_that_was_not_timed_says_why(found, why):
    assert [(mark["mark"], mark["why"]) for mark in judged(found, CONTROL_RUN)] == [("untested", why)]


def test_a_control_that_the_gpu_cannot_hold_says_so():
    found = record(c=25.0) | {"controls": [{"label": "b'", "ledgers": {"NVIDIA H200": {"refused": "too large"}}}]}
    assert [mark["why"] for mark in judged(found, CONTROL_RUN)] == ["too large"]


@pytest.mark.parametrize(("low", "high", "mark"), [(1.9, 2.1, "supported"), (2.1, 3, "refuted"), (2, 3, "untested")])
def test_a_ratio_of_times_lies_in_the_claimed_interval_or_not(low, high, mark):
    test = {"kind": "timed", "baseline": BASELINE, "candidate": CANDIDATE, "low": low, "high": high}
    assert [one["mark"] for one in judged(record(c=50.0), test)] == [mark]


@pytest.mark.parametrize(
    ("first", "share", "mark"),
    [
        (8, 0.75, "supported"),  # 6 % of the wall
        (12, 0.75, "refuted"),  # 9 %
        (10, 0.75, "untested"),  # 7.5 %, give or take 0.2 % of the baseline
        (8, None, "untested"),
        (None, 0.75, "untested"),
    ],
)
def test_the_upper_bound_lies_in_the_claimed_interval_or_not(first, share, mark):
    """The ratio on the wall if a first step that takes so many of 100 µs took none; 1/(1 − 0.075) is claimed."""
    found = record(c=90.0) | {"share": share and {"fraction": share}}
    if first:
        found["shapes"][0]["beginnings_us"] = {"first": [float(first)] * 100}
    test = {"kind": "upper bound", "low": 1, "high": 1 / (1 - 0.075)}
    assert [one["mark"] for one in judged(found, test)] == [mark]
    assert [one["why"] for one in judged(record(gpu=None), test)] == ["no GPU"]


@pytest.mark.parametrize(
    ("changed", "mark"),
    [
        ({}, {"mark": "supported", "values": [2, 1]}),
        ({"low": 0.6, "high": 0.7}, {"mark": "refuted", "values": [2, 1]}),
        ({"of": "c", "low": 1, "high": 1}, {"mark": "supported", "values": [1]}),
        ({"figure": "MMAs"}, {"mark": "untested", "why": "this run did not count mma_executed"}),
        ({"candidate": "d"}, {"mark": "untested", "why": "d: not in this run"}),
    ],
)
def test_a_figure_of_the_counts_or_its_factor_lies_in_the_claimed_interval_or_not(changed, mark):
    counts = {"b": {"barriers": 20, "mma_flop": 1e7}, "c": {"barriers": 10, "mma_flop": 1e7}}
    test = {"kind": "counted", "figure": "barriers per MFLOP", "low": 0.45, "high": 0.55, "of": None}
    test |= {"baseline": "b", "candidate": "c"} | changed
    assert judged(record(gpu=None) | {"emulated": [{"counts": counts}]}, test) == [{"gpu": None} | mark]


def test_the_ledger_marks_each_gpu_by_itself():
    """Resident blocks halve on one GPU, on another they do not, and the third cannot hold the candidate."""

    def ledgers(*blocks):
        return {gpu: {"blocks_per_sm": one} for gpu, one in zip(("GB10", "H200"), blocks)}

    found = record(gpu=None) | {
        "variants": [
            {"label": "b", "ledgers": ledgers(2, 2) | {"T4": {"blocks_per_sm": 1}}},
            {"label": "c", "ledgers": ledgers(1, 2) | {"T4": {"refused": "too large"}}},
        ]
    }
    test = {"kind": "ledger", "figure": "blocks per SM", "low": 0.3, "high": 0.5, "of": None}
    assert judged(found, test | {"baseline": "b", "candidate": "c"}) == [
        {"gpu": "GB10", "mark": "supported", "values": [2, 1]},
        {"gpu": "H200", "mark": "refuted", "values": [2, 2]},
        {"gpu": "T4", "mark": "untested", "why": "too large"},
    ]


@pytest.mark.parametrize(("low", "high"), [(2, 1), (float("nan"), 1)])
def test_an_interval_that_nothing_lies_in_is_refused(low, high):
    for test in (Counted("barriers per MFLOP", low, high), UpperBound(low, high)):
        with pytest.raises(Refusal, match=f"fewer barriers: no figure lies in {low} to {high}"):
            Mechanism("fewer barriers", "ours", test)
    with pytest.raises(Refusal, match=f"no ratio lies in {low} to {high}, as predicted for H200"):
        Prediction("H200", low, high, "a guess")


def test_a_figure_that_nobody_counts_is_refused():
    with pytest.raises(Refusal, match="no figure is called 'barriers'"):
        Counted("barriers", 0, 1)
    with pytest.raises(Refusal, match="no figure is called 'occupancy'"):
        InLedger("occupancy", 0, 1)


class Everything(dict):
    """Counts, or a ledger, in which every number is 1."""

    def __missing__(self, key):
        return 1

    def get(self, key, default=None):
        return 1


@pytest.mark.parametrize("name", experiments.names())
def test_without_a_gpu_a_probes_counts_and_ledgers_are_marked_and_its_times_untested(name):
    probe = experiments.load(name)
    statements = probe.statements()
    kernels = [{"label": str(kernel), "ledgers": {"H200": Everything(on="H200")}} for kernel in probe.kernels]
    controls = [{"label": str(kernel), "ledgers": {"H200": Everything(on="H200")}} for kernel in probe.controls]
    counts = {one["label"]: Everything(counted=True) for one in (*kernels, *controls)}
    found = {"gpu": None, "variants": kernels, "controls": controls, "emulated": [{"counts": counts}], "shapes": []}
    for mechanism in mechanisms.judge(found, statements):
        decided = mechanism["test"]["kind"] in ("counted", "ledger")
        for mark in mechanism["marks"]:
            assert (mark["mark"] != "untested") == decided, (mechanism["says"], mark)
            assert decided or mark["why"]
    assert statements, "a probe says why"


def test_at_most_two_claims_of_the_source_have_no_test():
    claims = [claim for claims in experiments.statements().values() for claim in claims]
    assert sum(claim["test"]["kind"] == "none" for claim in claims) <= 2
    assert {claim["test"]["figure"] for claim in claims if claim["test"]["kind"] == "counted"} <= FIGURES.keys()
