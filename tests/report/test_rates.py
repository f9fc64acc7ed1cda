"""Rates in the unit of a contract, and counts per FLOP or per byte."""

import numpy as np
import pytest

import experiments
from playground.kernels import convert_f32_f16, gemm_f16_nt, store_kv_f16, swiglu
from playground.kernels.gemm_f16_nt import GEMM_NT
from playground.report import catalogue, plots, record
from playground.report.derived import derived
from playground.report.narrator import Narrator, console
from playground.report.rates import rates
from playground.shapes import Shape

COPY = "device-to-device copy"
PROBE = experiments.load("elementwise_vectorized_convert")
BASELINE, CANDIDATE, OTHER = (str(kernel) for kernel in PROBE.kernels)
TIMES = {BASELINE: 100.0, "A/A": 100.0, CANDIDATE: 60.0, OTHER: 62.5, COPY: 50.0}


def test_work_is_each_tensor_once_or_what_the_contract_says():
    assert convert_f32_f16().contract.work({"n": 1000}) == {"flop": 0, "bytes": 6000, "unit": "GB/s"}
    assert swiglu().contract.work({"n": 1000})["bytes"] == 12_000
    stored = store_kv_f16().contract.work({"nt": 10, "nkt": 100, "slots": 9999})
    assert stored["bytes"] == 10 * 100 * 6 + 10 * 4  # of the cache only the rows that are stored
    gemm = GEMM_NT.work({"nt": 3, "od": 5, "id": 16})
    assert gemm == {"flop": 2 * 3 * 5 * 16, "bytes": 96 + 160 + 60, "unit": "TFLOP/s"}


def test_rates_are_in_the_unit_that_the_record_names():
    assert rates({"flop": 10**9, "bytes": 10**6, "unit": "GB/s"}, [100, 200]).tolist() == [10, 5]
    assert rates({"flop": 10**9, "bytes": 10**6, "unit": "TFLOP/s"}, 100) == 10


def test_counts_without_an_mma_are_told_per_byte():
    counts = {
        "inst_executed": 90, "inst_executed_ld_global": 10, "inst_executed_st_global": 10, "mma_flop": 0,
        "global_load_bytes": 1280, "global_store_bytes": 640, "global_load_sectors": 80, "global_store_sectors": 20,
        "global_load_utilisation": 0.5, "global_store_utilisation": 1.0,
    }  # fmt: skip
    figures = derived(counts)
    assert figures["warp instructions per kB"] == f"{90 / 1.92:.2f}"
    assert figures["sectors per load or store"] == "5.00"
    assert figures["used of each sector loaded"] == "50.0%"
    shared = {f"shared_load_{what}": 1 for what in ("bytes", "wavefronts", "wavefronts_ideal")}
    assert "barriers per MFLOP" in derived({"mma_flop": 1, "barriers": 1, "inst_executed": 1, **shared})


def timed():
    """The record of a run on a GPU in which every launch of a side took the same time."""
    dims = {"n": 10_000_000}
    gate = {"passed": True, "output": "y", "max_error": 0.0, "worst": 0.0, "tolerance": "to the bit"}
    interval = {"median": 100 / 60, "low": 1.6, "high": 1.7}
    judged = {
        "verdict": "landed", "reason": "a test", "ratio": interval, "control": {"median": 1, "low": 1, "high": 1},
        "bar": 0.015, "prediction": "held",
    }  # fmt: skip
    shape = {
        "dims": dims,
        "roles": [""],
        **PROBE.baseline.contract.work(dims),
        "parity": {str(kernel): gate for kernel in PROBE.kernels},
        "peer_parity": {COPY: gate},
        "samples_us": {side: list(time + np.linspace(0, 0.4, 24)) for side, time in TIMES.items()},
        "telemetry": {"missing": "a test"},
    }
    refused = {"refused": "a test"}
    return {
        "time": "2026-11-29T16:28:26+00:00", "probe": "elementwise_vectorized_convert", "question": PROBE.question,
        "claim": vars(PROBE.claim), "predictions": [vars(one) for one in PROBE.predictions], "bar": 0.015,
        "share": vars(PROBE.share), "commit": None, "dirty": None, "versions": {}, "contract": "convert_f32_f16",
        "gpu": {"name": "NVIDIA H200", "arch": "sm_90", "sms": 132, "l2_bytes": 60 << 20, "cuda_driver": 13000},
        "variants": [
            {"label": str(kernel), "name": kernel.name, "parameters": kernel.parameters, "ledgers": {"H200": refused}}
            for kernel in PROBE.kernels
        ],
        "emulated": [], "shapes": [shape],
        "verdicts": {CANDIDATE: {**judged, "wall": judged, "per_shape": [judged]}},
    }  # fmt: skip


def test_the_list_tells_bandwidth_and_the_part_of_a_copys(tmp_path):
    folder = tmp_path / "nvidia-h200"
    folder.mkdir()
    record.append(folder / "elementwise_vectorized_convert.jsonl", timed())
    (row,) = [
        row for row in catalogue.rows(tmp_path, experiments.claims()) if row.probe == "elementwise_vectorized_convert"
    ]
    assert row.rate == "598.8 → 996.7 GB/s"  # 60 MB in 100.2 and 60.2 µs
    assert row.of_peers == f"{50.2 / 60.2:.1%} of {COPY}"


def test_the_table_of_times_tells_both_too(capsys):
    made = timed()["shapes"][0]
    Narrator(console()).times(Shape(made["dims"]), made, made["samples_us"], [COPY])
    head, *rows = capsys.readouterr().out.strip().splitlines()
    assert "GB/s" in head
    assert f"of {COPY}" in head
    candidate = next(row for row in rows if CANDIDATE in row).split()
    assert candidate[-1] == f"{50.2 / 60.2:.1%}"
    assert "996.7" in candidate


def test_the_picture_is_in_gigabytes_per_second_from_the_record_alone():
    page = plots.figure(timed())
    texts = [text.get_text() for text in page.texts]
    assert any(text.startswith("GB/s of every launch") for text in texts)
    assert not any("TFLOP/s" in text for text in texts)
    assert COPY in " ".join(texts)


@pytest.mark.parametrize("name", ["elementwise_vectorized_convert", "elementwise_vectorized_store_kv"])
def test_the_elementwise_probes_compare_scalar_with_wide_at_38_8_million_elements(name):
    probe = experiments.load(name)
    assert probe.baseline.parameters["per_lane"] == 1
    assert probe.candidates[0].parameters["per_lane"] > 1
    elements = {"n": lambda n: n, "nt": lambda nt, nkt, slots: nt * nkt}[probe.baseline.contract.dimensions[0]]
    assert max(elements(**shape.dims) for shape in probe.shapes) == 2048 * 18944
    for shape in probe.shapes:
        probe.baseline.contract.check_dimensions(shape.dims)


def test_a_gemms_counts_stay_per_flop():
    assert gemm_f16_nt().contract.rate == "TFLOP/s"


@pytest.mark.gpu
def test_a_plain_copy_is_checked_and_nears_the_memorys_speed(device):
    from playground.measure.plain_copy import PlainCopy
    from playground.measure.timing import Stopwatch

    traffic = 200_000_000
    with PlainCopy(device, traffic) as copy, Stopwatch(device) as stopwatch:
        assert copy.check().passed
        samples = stopwatch.measure({"copy": copy.launch}, 10)["copy"]
    assert traffic / np.median(samples) / 1e3 > 200  # GB/s: the slowest GPU in our table has 273
