"""Floors and predictions of a probe: as a record holds them, as a run tells them, and as they are scored."""

import json
from functools import partial
from pathlib import Path

import pytest

import experiments
from playground.__main__ import main
from playground.compiler.arch import GPUS, arch_named
from playground.compiler.build import build
from playground.floors.predict import direction, floors_of, layer_floor, layer_limiter, predicted
from playground.foretell import foretell
from playground.kernels import convert_f32_f16, convert_gemm, gemm_f16_nt
from playground.measure.inputs import random_inputs
from playground.report import predictions, record
from playground.report.floors import reached_table
from playground.report.known_rates import known_rates
from playground.report.narrator import console
from playground.shapes import Shape

PROBE = experiments.load("gemm_tm128")
MEASURED = Path(__file__).parents[1] / "results" / "nvidia-h200" / "gemm_tm128.jsonl"
BASELINE, CANDIDATE = (str(kernel) for kernel in PROBE.kernels)


@pytest.fixture(scope="module")
def told():
    builds = {str(kernel): build(kernel, arch_named("H200")) for kernel in PROBE.kernels}
    return foretell(PROBE, builds)


def test_every_gpu_of_the_table_has_floors_or_the_reason_why_not(told):
    assert list(told["floor_rates"]) == list(GPUS)
    for entry, shape in zip(told["floors"], PROBE.shapes):
        assert (entry["dims"], entry["roles"]) == (shape.dims, list(shape.roles))
        for gpu, own in entry["gpus"].items():
            if gpu == "T4":
                assert "needs sm_80" in own[BASELINE]["refused"]
            else:
                assert own[BASELINE]["us"] >= max(own[BASELINE]["resources_us"].values())
                assert own[BASELINE]["resources_us"][own[BASELINE]["limiter"]] == max(
                    own[BASELINE]["resources_us"].values()
                )


def test_tm128_is_predicted_to_win_by_its_shared_wavefronts(told):
    """A step of a warp loads 2 + 2 fragments for TM=128 and 2 + 1 for TM=64, of half the FLOP: 3/2 before staging."""
    foretold = told["predicted"][CANDIDATE]
    assert set(foretold) == set(GPUS) - {"T4"}
    assert foretold["H200"] == {"ratio": pytest.approx(1.48, abs=0.01), "verdict": "faster"}
    assert layer_limiter(told["floors"], "H200", CANDIDATE) == "shared wavefronts"


def test_the_ratio_is_of_the_layers_floors_each_shape_as_often_as_it_has_roles():
    """2 · 100 + 50 against 2 · 80 + 90: exactly equal."""

    def entry(roles, baseline, candidate):
        h200 = {"b": {"us": baseline}, "c": {"us": candidate}}
        return {"roles": roles, "gpus": {"H200": h200, "T4": {"b": {"us": 1}, "c": {"refused": "too large"}}}}

    floors = [entry(["q", "o"], 100, 80), entry(["down"], 50, 90)]
    assert layer_floor(floors, "T4", "c") is None
    assert predicted(floors, "bc", 0.015) == {"c": {"H200": {"ratio": 1.0, "verdict": "no difference"}}}


def test_the_floor_of_a_pipeline_is_the_sum_of_its_steps():
    """A of 512 × 520 in f32, converted and multiplied; T4 lacks the first step's instructions."""
    whole, arch = convert_gemm(per_lane=8), arch_named("H200")
    rates = {gpu: known_rates()[gpu] for gpu in ("H200", "T4")}
    dims = {"nt": 512, "od": 256, "id": 520}

    def found(kernel, dims):
        (entry,) = floors_of({"it": build(kernel, arch)}, [Shape(dims)], partial(random_inputs, seed=0), rates)
        return {gpu: own["it"] for gpu, own in entry["gpus"].items()}

    together, convert, gemm = (
        found(whole, dims),
        found(convert_f32_f16(8), {"n": 512 * 520}),
        found(gemm_f16_nt(), dims),
    )
    steps = [convert["H200"], gemm["H200"]]
    assert together["H200"]["us"] == pytest.approx(sum(step["us"] for step in steps) - steps[0]["launch_us"])
    assert together["T4"] == convert["T4"]
    assert together["T4"]["refused"].startswith("convert_f32_f16(per_lane=8) needs sm_80")


@pytest.mark.parametrize(
    ("ratio", "said"), [(1.016, "faster"), (1.01, "no difference"), (0.99, "no difference"), (0.98, "slower")]
)
def test_a_direction_needs_more_than_the_bar(ratio, said):
    assert direction(ratio, 0.015) == said


def with_times(told, candidate_us, verdict):
    """A record of a run on an H200 in which every launch of the baseline took 10 ms."""
    latest = json.loads(MEASURED.read_text().splitlines()[-1])
    for shape in latest["shapes"]:
        shape["samples_us"] = {BASELINE: [10_000.0] * 3, CANDIDATE: [candidate_us] * 3}
    latest["verdicts"][CANDIDATE]["verdict"] = verdict
    return latest | told


@pytest.mark.parametrize(("verdict", "right"), [("landed", "right"), ("reverted", "wrong"), ("inconclusive", "")])
def test_a_prediction_is_right_if_its_direction_is_the_measured_one(told, tmp_path, verdict, right):
    path = tmp_path / "nvidia-h200" / "gemm_tm128.jsonl"
    record.prepare(path)
    record.append(path, with_times(told, 20_000.0, verdict))
    (row,) = predictions.rows(tmp_path, ["gemm_tm128"])
    assert (row.floors, row.right) == ("1.48, faster", right)
    layer = layer_floor(told["floors"], "H200", BASELINE) / 70_000
    assert row.reached.startswith(f"{layer:.0%} → ")
    scored = {"right": "1 of 1 (100%)", "wrong": "0 of 1 (0%)", "": "0 of 0"}[right]
    assert predictions.as_markdown([row]).endswith(f"Directions right: {scored}.")


def test_records_without_floors_are_not_scored(tmp_path):
    path = tmp_path / "nvidia-h200" / "gemm_tm128.jsonl"
    record.prepare(path)
    old = json.loads(MEASURED.read_text().splitlines()[-1])
    record.append(path, {key: value for key, value in old.items() if key not in ("floors", "predicted", "floor_rates")})
    assert predictions.rows(tmp_path, ["gemm_tm128"]) == []


def test_after_timing_the_floors_stand_beside_the_times(told, capsys):
    console().print(reached_table(with_times(told, 20_000.0, "landed")))
    told_baseline = told["floors"][0]["gpus"]["H200"][BASELINE]["us"]
    assert (
        f"{told_baseline:,.1f} of 10,000.0 µs, {told_baseline / 10_000:.0%}, shared wavefronts"
        in capsys.readouterr().out
    )


def test_the_command_tells_floors_of_one_gpu(capsys):
    assert main(["floors", "gemm_tm128", "--gpu", "gb10"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["GPU", "GB10"]
    assert "faster" in lines[2]
    assert main(["floors", "gemm_tm128", "--gpu", "H300"]) == 2
    assert "unknown GPU 'H300'" in capsys.readouterr().err
