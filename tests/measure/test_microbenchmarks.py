"""The microbenchmarks: each kernel does what its rate counts, in the emulator and in machine code; stamps to rates."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from playground.compiler.arch import arch_named
from playground.compiler.build import build
from playground.emulator.workspace import EmulatedWorkspace
from playground.measure.microbenchmarks import clocks, memory_benchmarks, sm_benchmarks, without_gpu
from playground.measure.microbenchmarks.benchmark import summary
from playground.measure.microbenchmarks.published import published

BENCHMARKS = {each.name: each for each in (*sm_benchmarks.benchmarks(), *memory_benchmarks.benchmarks())}
H200 = arch_named("H200")

PER_BLOCK_AND_TURN = {
    "shared_wavefronts_per_cycle_sm": 16 * 32,  # 16 warps, 32 loads of 128 bytes each
    "shared_16_byte_wavefronts_per_cycle_sm": 16 * 32 * 4,
    "shared_2_way_wavefronts_per_cycle_sm": 16 * 32 * 2,
    "shared_4_way_wavefronts_per_cycle_sm": 16 * 32 * 4,
    "ldmatrix_wavefronts_per_cycle_sm": 16 * 32 * 4,  # four matrices of 8 rows of 16 bytes
    "wmma_flop_per_cycle_sm": 16 * 16 * 2 * 16**3,
    "mma_sync_flop_per_cycle_sm": 16 * 32 * 2 * 16 * 8 * 16,
    "issue_per_cycle_sm": 16 * (168 + 84),
    "fma_per_cycle_sm": 512 * 256,
    "ex2_per_cycle_sm": 512 * 64,
}


@pytest.mark.parametrize("name", PER_BLOCK_AND_TURN)
def test_the_work_is_what_the_kernel_is_made_of(name):
    benchmark = BENCHMARKS[name]
    two, five = (benchmark.work(benchmark.small(turns)) for turns in (2, 5))
    assert five - two == 2 * 3 * PER_BLOCK_AND_TURN[name]  # on two blocks
    assert benchmark.work(benchmark.full(132, 50 << 20)) == 132 * 2048 * PER_BLOCK_AND_TURN[name]


@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_emulator_counts_that_work_and_finds_the_result(name):
    checks = without_gpu.emulated(BENCHMARKS[name], build(BENCHMARKS[name].kernel, H200))
    assert checks == {"emulated result": True, "no hazard": True, "counts as claimed": True}


@pytest.mark.parametrize(
    ("name", "gpu"),
    [
        *((name, "H200") for name in BENCHMARKS),
        *((name, "GB10") for name in ("issue_per_cycle_sm", "mma_sync_flop_per_cycle_sm")),
    ],
)
def test_machine_code_holds_the_instructions(name, gpu):
    (held,) = without_gpu.machine_code(BENCHMARKS[name], build(BENCHMARKS[name].kernel, arch_named(gpu))).values()
    if held is None:
        pytest.skip("nvdisasm was not found (pip install nvidia-cuda-nvdisasm)")
    assert held


def test_every_check_can_fail():
    benchmark = BENCHMARKS["fma_per_cycle_sm"]
    built = build(benchmark.kernel, H200)
    more = replace(benchmark, work=lambda inputs: benchmark.work(inputs) + int(inputs["repetitions"][0]))
    less = replace(benchmark, work=lambda inputs: benchmark.work(inputs) - int(inputs["repetitions"][0]))
    other = replace(benchmark, expected=BENCHMARKS["ex2_per_cycle_sm"].expected)
    assert not without_gpu.emulated(more, built)["counts as claimed"]
    assert not without_gpu.emulated(less, built)["counts as claimed"]
    assert not without_gpu.emulated(other, built)["emulated result"]
    if built.ledger.instruction_mix is not None:
        for wrong in ({"FFMA": 255}, {"FFM": 256}, {"HMMA": 1}):
            assert not without_gpu.machine_code(replace(benchmark, machine_code=wrong), built)[
                "machine code as claimed"
            ]


class EmulatedDevice(EmulatedWorkspace):
    """A device of one SM, by the name of the workspace that it stands for."""

    def __init__(self, device, contract, inputs):
        super().__init__(contract, inputs)


@pytest.mark.parametrize(("name", "sweeps"), [("mma_sync_flop_per_cycle_sm", 0), ("dram_latency_seconds", 22)])
def test_every_sample_is_kept_and_every_result_checked(name, sweeps, monkeypatch):
    from playground.measure.microbenchmarks import on_gpu

    monkeypatch.setattr(on_gpu, "Workspace", EmulatedDevice)
    swept = []
    stopwatch = SimpleNamespace(sweep=lambda: swept.append(1))
    benchmark, device = BENCHMARKS[name], SimpleNamespace(sms=1, l2=1)
    given = {key: array[:1] if key == "x" else array for key, array in benchmark.small(3).items()}
    benchmark = replace(benchmark, full=lambda sms, l2: given)
    rate, clock, checks = on_gpu.measure(benchmark, build(benchmark.kernel, H200), device, stopwatch)
    assert (len(rate["samples"]), len(swept)) == (20, sweeps)
    assert rate["value"] == benchmark.best(rate["samples"]) > 0
    assert clock["value"] == pytest.approx(1e9)  # the emulator's two clocks are one
    assert all(checks.values())
    wrong = replace(benchmark, expected=lambda inputs: {"out": sm_benchmarks.whole(np.array([[-1]]))["out"]})
    assert not on_gpu.measure(wrong, build(benchmark.kernel, H200), device, stopwatch)[2]["result"]


# ---------------------------------------------------------------------------------------------------- stamps to a rate

STAMPS = np.array(
    [[[1000, 2500, 500, 1400, 7], [1100, 3000, 550, 1500, 7]], [[5000, 6900, 600, 1700, 3], [5300, 7000, 700, 1650, 3]]]
)
"""Two blocks of two warps: begin and end in cycles, begin and end in nanoseconds, SM."""


def test_rates_from_stamps():
    assert clocks.per_cycle_and_sm(STAMPS, 8000) == 2  # each block half of the work in 2000 cycles
    assert clocks.per_second(STAMPS, 2400) == pytest.approx(2e9)  # from 500 to 1700 ns
    assert clocks.seconds_each(STAMPS, 12) == pytest.approx(100e-9)
    assert clocks.hertz(STAMPS) == pytest.approx(4000 / 2100e-9)
    assert clocks.one_block_per_sm(STAMPS)
    assert not clocks.one_block_per_sm(np.concatenate([STAMPS, STAMPS[:1]]))


def test_the_value_is_the_sample_that_bounds_a_time_from_below():
    assert summary([3, 1, 2], "B/s", max, kernel="k") == {
        "value": 3, "median": 2, "unit": "B/s", "samples": [3, 1, 2], "run": {"kernel": "k"},
    }  # fmt: skip
    assert summary(np.array([3.0, 1.0]), "s", min)["value"] == 1


# ------------------------------------------------------------------------------------------------------ what is chased


def test_a_ring_passes_every_place_once_and_never_a_sector_twice():
    inputs = memory_benchmarks.ring(1 << 20, 128)
    following, place, seen = inputs["following"], int(inputs["start"][0]), []
    for _ in range(int(inputs["loads"][0])):
        seen.append(place)
        place = int(following[place])
    assert place == seen[0]
    assert len(seen) == (1 << 20) // 128
    assert {place % 8 for place in seen} == {0}
    assert sorted(place // 32 for place in seen) == list(range(len(seen)))  # one in each 128 bytes


def test_the_sets_are_inside_and_far_beyond_l2():
    l2_reads = memory_benchmarks.l2_reads(132, 60 << 20)["x"].nbytes
    assert 20e6 < l2_reads < 30e6
    assert memory_benchmarks.l2_reads(48, 24 << 20)["x"].nbytes <= 13e6  # GB10
    assert memory_benchmarks.DRAM_BLOCKS * memory_benchmarks.DRAM_ROW >= 1e9
    assert memory_benchmarks.DRAM_LOADS < memory_benchmarks.DRAM_CHASE // memory_benchmarks.DRAM_PITCH


def test_what_is_published_names_its_source():
    known = published("NVIDIA H200", H200)
    assert known["dram_bytes_per_second"] == (4800e9, "data sheet")
    assert known["fma_per_cycle_sm"][0] == 128
    assert published("NVIDIA A100-SXM4-80GB", arch_named("A100"))["fma_per_cycle_sm"][0] == 64
    for other in ("NVIDIA H20", "NVIDIA H200 NVL", "NVIDIA GB200"):
        assert "dram_bytes_per_second" not in published(other, H200)
    assert all(source for _, source in known.values())
