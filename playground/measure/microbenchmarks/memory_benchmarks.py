"""The rates of L2 and DRAM, and how long one load waits for each."""

import numpy as np

from playground.kernels.rates.global_reads import LOADS, RESIDENT, STEP, VECTOR, global_reads
from playground.kernels.rates.per_sm import THREADS, WORD
from playground.kernels.rates.pointer_chase import pointer_chase
from playground.measure.microbenchmarks.benchmark import Benchmark, Inputs, whole
from playground.measure.microbenchmarks.clocks import per_second, seconds_each
from playground.measure.references import Expected

MB, KB = 2**20, 2**10
SECTOR_WORDS = 8

L2_SET, L2_PASSES = 24 * MB, 256
"""A set that is in L2 after one pass; at most half of L2, since some GPUs keep a copy in each half of it."""
DRAM_BLOCKS, DRAM_ROW = 4096, 256 * KB
"""1 GiB, in many more blocks than run at once: an SM that is nearer to the memory takes more of them."""
L2_CHASE, L2_PITCH = 8 * MB, 128
DRAM_CHASE, DRAM_PITCH, DRAM_LOADS = 512 * MB, 4 * KB, 20_000
"""No sector comes up twice."""


def benchmarks() -> list[Benchmark]:
    """Bandwidth and latency of L2 and of DRAM."""
    return [
        reads("l2_bytes_per_second", l2_reads, small=lambda turns: read_inputs(3, STEP, 1, turns), cold=False),
        reads("dram_bytes_per_second", dram_reads, small=lambda turns: read_inputs(2, 2 * STEP, 0, turns), cold=True),
        chase("l2_latency_seconds", lambda sms, l2: ring(min(L2_CHASE, l2 // 2), L2_PITCH), cold=False),
        chase("dram_latency_seconds", lambda sms, l2: ring(DRAM_CHASE, DRAM_PITCH, DRAM_LOADS), cold=True),
    ]


def l2_reads(sms: int, l2: int) -> Inputs:
    """One wave of blocks, over and over the same set."""
    blocks = sms * RESIDENT
    steps = max(1, round(min(L2_SET, l2 // 2) / (blocks * STEP * WORD)))
    return read_inputs(blocks, steps * STEP, 1, L2_PASSES)


def dram_reads(sms: int, l2: int) -> Inputs:
    """Everything once."""
    return read_inputs(DRAM_BLOCKS, DRAM_ROW // WORD, 0, 1)


def read_inputs(blocks: int, n: int, first: int, timed: int) -> Inputs:
    """x counts up; first, timed: passes before the time is taken, and from then on."""
    return {
        "x": np.arange(blocks * n, dtype=np.uint32).reshape(blocks, n),
        "passes": np.array([first, timed], np.int32),
    }


def thread_sums(inputs: Inputs) -> dict[str, Expected]:
    """Modulo 2³²: the words of every thread in a row, summed over the rows of all passes."""
    x, passes = inputs["x"], int(inputs["passes"].sum())
    rows = x.reshape(len(x), -1, THREADS, VECTOR).sum(axis=(1, 3), dtype=np.uint32)
    return whole(sum(np.roll(rows, -turn, axis=0) for turn in range(passes)))


def reads(name: str, full, small, cold: bool) -> Benchmark:
    """Bytes per second. full, small, cold: as Benchmark's."""
    return Benchmark(
        name=name,
        unit="B/s",
        kernel=global_reads(),
        small=small,
        full=full,
        expected=thread_sums,
        work=lambda inputs: inputs["x"].nbytes * int(inputs["passes"][1]),
        counted=lambda counts: counts["global_load_bytes"],
        machine_code={"LDG.E.128": LOADS},
        rate=per_second,
        cold=cold,
    )


def ring(size: int, pitch: int, loads: int | None = None) -> Inputs:
    """A ring through `size` bytes in random order, one random sector of every `pitch` bytes; loads: once round."""
    random = np.random.default_rng(size)
    places = np.arange(0, size // WORD, pitch // WORD, dtype=np.uint32)
    places += random.integers(0, pitch // WORD // SECTOR_WORDS, len(places), np.uint32) * np.uint32(SECTOR_WORDS)
    random.shuffle(places)
    following = np.zeros(size // WORD, np.uint32)
    following[places] = np.roll(places, -1)
    return {
        "following": following,
        "start": places[:1].copy(),
        "loads": np.array([loads or len(places)], np.int32),
    }


def walked(inputs: Inputs) -> dict[str, Expected]:
    """Where the walk ends."""
    following, place = inputs["following"], inputs["start"][0]
    for _ in range(int(inputs["loads"][0])):
        place = following[place]
    return whole(np.array([place]))


def chase(name: str, full, cold: bool) -> Benchmark:
    """One load after the other: the rate is the time of each, with the addition of two addresses between them."""
    return Benchmark(
        name=name,
        unit="s",
        kernel=pointer_chase(),
        small=lambda turns: ring(4 * KB, L2_PITCH, turns),
        full=full,
        expected=walked,
        work=lambda inputs: int(inputs["loads"][0]),
        counted=lambda counts: counts["inst_executed_ld_global"],
        machine_code={"LDG.E.STRONG": 1},
        rate=seconds_each,
        best=min,
        cold=cold,
    )
