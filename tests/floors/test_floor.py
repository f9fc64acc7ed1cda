"""Floors: hand-derived times, the published rates against their TFLOP/s, and no floor above a measured time."""

import json
from functools import cache
from pathlib import Path

import pytest

from playground.compiler.arch import GPUS
from playground.compiler.build import build
from playground.floors.extrapolate import Extrapolation
from playground.floors.floor import Floor, busiest_share, floor, in_turn, issue_slots
from playground.floors.rates import PUBLISHED, Rates, measured, published, table_name
from playground.kernels import KERNELS, Kernel, Pipeline, Step, convert_f32_f16, convert_gemm, fa_prefill, gemm_f16_nt
from playground.measure.inputs import random_inputs
from playground.report.known_rates import known_rates

RESULTS = Path(__file__).parents[2] / "results"
H200 = GPUS["H200"]
NOTHING = dict.fromkeys(
    (
        "shared_wavefronts",
        "one_slot",
        "fma",
        "mul",
        "add",
        "special",
        "wmma_flop",
        "mma_flop",
        "loaded",
        "copied",
        "stored",
    ),
    0,
)
N = 38_797_312
SIMPLE = Rates(1e9, 1000, 1000, 1, 4, 128, 16, 4e12, 2e12, dram_latency=1e-6, l2_latency=5e-7, launch=2e-6)


@pytest.mark.parametrize("gpu", GPUS)
def test_published_tflops_are_sms_times_clock_times_flop_per_cycle(gpu):
    tensor = PUBLISHED[gpu]
    assert GPUS[gpu].sms * tensor.clock * tensor.flop == pytest.approx(tensor.tflops * 1e12, rel=0.01)
    assert (tensor.highest or tensor.clock) >= tensor.clock


def test_shared_wavefronts_fall_on_the_busiest_sm():
    """896 blocks on 132 SMs: one has 7. 7/896 of 1.28e9 wavefronts at 1 GHz are 10 ms."""
    kernel, dims = gemm_f16_nt(), {"nt": 2048, "od": 3584, "id": 3584}
    found = floor(kernel, dims, NOTHING | {"shared_wavefronts": 1_280_000_000}, 2, H200, SIMPLE)
    assert busiest_share(kernel, dims, 132) == 7 / 896
    assert found.resources_us["shared wavefronts"] == pytest.approx(10_000)
    assert (found.limiter, found.us) == ("shared wavefronts", pytest.approx(10_002))


def test_unequal_blocks_share_evenly_at_best():
    assert busiest_share(fa_prefill(), {"nt": 2048, "nh": 28, "nk": 4, "kv": 2048}, 132) == 1 / 132
    assert busiest_share(gemm_f16_nt(), {"nt": 2049, "od": 3584, "id": 3584}, 132) == 1 / 132


def test_one_element_per_lane_is_bound_by_waves_and_eight_by_dram():
    """151,552 blocks on 132 SMs of 8: 144 waves of 1 µs; of 8 per lane 18. DRAM: 155 MB, and 77.6 MB beyond 60 MiB."""
    moved = NOTHING | {"loaded": 4 * N, "stored": 2 * N}
    one, eight = (floor(convert_f32_f16(each), {"n": N}, moved, 8, H200, SIMPLE) for each in (1, 8))
    assert (one.limiter, one.resources_us["launch waves"]) == ("launch waves", pytest.approx(144))
    assert eight.resources_us["launch waves"] == pytest.approx(18)
    assert (eight.limiter, eight.us) == ("DRAM", pytest.approx((4 * N + 2 * N - 60 * 2**20) / 2e12 * 1e6 + 2))
    assert eight.resources_us["L2"] == pytest.approx(6 * N / 4e12 * 1e6)


def test_blocks_that_read_what_others_read_wait_for_l2():
    """Every byte asked for twice: half of the blocks may find all in L2. One wave."""
    twice = NOTHING | {"loaded": 8 * N, "stored": 2 * N}
    found = floor(convert_f32_f16(8), {"n": N}, twice, 1000, H200, SIMPLE)
    assert found.resources_us["launch waves"] == pytest.approx(0.75)


def test_launches_in_turn_take_the_sum_after_one_launch_and_their_limiter_is_what_takes_most_in_all():
    first = Floor(12, "DRAM", 2, {"DRAM": 10, "L2": 4})
    second = Floor(9, "issue slots", 2, {"issue slots": 7, "L2": 6.5})
    resources = {"DRAM": 10, "L2": 10.5, "issue slots": 7}
    assert in_turn([first, second]) == Floor(19, "L2", 2, resources)
    assert in_turn([first]) == first


def test_an_mma_of_16x16x16_is_two_machine_instructions_and_four_on_turing():
    work = NOTHING | {"wmma_flop": 2 * 16**3, "one_slot": 10, "fma": 4, "mul": 3, "add": 5}
    assert issue_slots(work, (9, 0)) == 10 + 2 + 4 + 5
    assert issue_slots(work, (7, 5)) == 10 + 4 + 4 + 5
    assert issue_slots(work, (12, 1)) == 10 + 2 + 4.5


def test_measured_rates_stand_in_for_published_ones():
    rates = {"clock_hz": 1.99e9, "wmma_flop_per_cycle_sm": 2700.0, "issue_per_cycle_sm": 3.8}
    record = {"time": "2026-11-29T20:00:00+00:00", "rates": {name: {"value": value} for name, value in rates.items()}}
    found = measured("H200", record)
    assert (found.clock, found.wmma, found.source) == (1.99e9, 2700.0, "measured 2026-11-29")
    assert (found.mma, found.dram_latency) == (4096, None)
    assert found.issue == 4  # the loop of the microbenchmark takes slots too


def test_a_device_is_found_in_the_table_by_its_name():
    assert table_name("NVIDIA H200") == "H200"
    assert table_name("NVIDIA GeForce RTX 4090") == "RTX 4090"
    assert table_name("Tesla V100-SXM2-16GB") is None


MAKERS = KERNELS | {convert_gemm().name: convert_gemm}


def measured_launches():
    """(path, GPU, kernel, dims, µs of the fastest sample) of every launch in every committed record of a GPU."""
    fastest = {}
    for path in sorted(RESULTS.glob("*/*.jsonl")):
        for record in map(json.loads, path.read_text().splitlines()):
            for shape in record.get("shapes", ()):
                for variant in record["variants"]:
                    if samples := shape.get("samples_us", {}).get(variant["label"]):
                        parameters = {
                            name: value for name, value in variant["parameters"].items() if name != "blocks_per_sm"
                        }
                        kernel = MAKERS[variant["name"]](**parameters)
                        key = (path, table_name(record["gpu"]["name"]), str(kernel), tuple(shape["dims"].items()))
                        fastest[key] = kernel, min(min(samples), fastest.get(key, (None, min(samples)))[1])
    return [(*key[:2], kernel, dict(key[3]), us) for key, (kernel, us) in fastest.items()]


LAUNCHES = measured_launches()


@cache
def extrapolations(gpu: str, label: str) -> list[tuple[Step, Extrapolation]]:
    """Of each step of the kernel or pipeline with that label."""
    kernel = next(kernel for _, _, kernel, _, _ in LAUNCHES if str(kernel) == label)
    builds = build(kernel, GPUS[gpu].arch).steps
    return [(step, Extrapolation(built, inputs)) for step, built in zip(kernel.steps, builds)]


def inputs(contract, dims):
    return random_inputs(contract, dims, seed=0)


def floor_of(gpu: str, kernel: Kernel | Pipeline, dims, rates: Rates) -> Floor:
    floors = []
    for step, counted in extrapolations(gpu, str(kernel)):
        own, blocks = step.dimensions(dims), counted.build.ledger.blocks_per_sm
        floors.append(floor(step.kernel, own, counted.work(own), blocks, GPUS[gpu], rates))
    return in_turn(floors)


@pytest.mark.parametrize(
    "path", sorted({path for path, *_ in LAUNCHES}), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
@pytest.mark.parametrize("known", [published, known_rates().get], ids=["published rates", "known rates"])
def test_no_floor_lies_above_a_measured_time(path, known):
    for _, gpu, kernel, dims, fastest in (launch for launch in LAUNCHES if launch[0] == path):
        found = floor_of(gpu, kernel, dims, known(gpu))
        assert 0 < found.us <= fastest, f"{kernel} on {dims}: {found}"


def test_the_records_of_the_h200_are_held_against_their_floors():
    assert len(LAUNCHES) > 40
