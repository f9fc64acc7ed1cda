"""The rates of one SM, per cycle of its own clock: every SM runs one block of 16 warps."""

from collections.abc import Callable
from functools import partial

import numpy as np

from playground.compiler.arch import WARP
from playground.kernels.rates import chains, issue, products, shared_loads
from playground.kernels.rates.per_sm import THREADS, WARPS
from playground.measure.microbenchmarks.benchmark import Benchmark, Inputs, whole
from playground.measure.microbenchmarks.clocks import per_cycle_and_sm
from playground.measure.references import Expected

TURNS = 2048
"""Between half a million and five million cycles: what precedes and follows the loop is far below 1 %."""
SMALL_BLOCKS = 2
SETTLED = 200
"""Steps after which a chain of f32 does not change any more."""

SHARED_LOADS = {
    "shared_wavefronts_per_cycle_sm": ("4 B", 1, 1),
    "shared_2_way_wavefronts_per_cycle_sm": ("4 B", 2, 2),
    "shared_4_way_wavefronts_per_cycle_sm": ("4 B", 4, 4),
    "shared_16_byte_wavefronts_per_cycle_sm": ("16 B", 1, 4),
    "ldmatrix_wavefronts_per_cycle_sm": ("ldmatrix", 1, 4),
}
"""Rate -> the kernel's load and ways, and the wavefronts that one load of a warp takes."""

WMMA_FLOP, MMA_FLOP = 2 * 16 * 16 * 16, 2 * 16 * 8 * 16


def benchmarks() -> list[Benchmark]:
    """Shared loads by width and conflict, matrix products, issue slots, f32 and special functions."""
    return [
        *(loads(name, *which) for name, which in SHARED_LOADS.items()),
        multiplications("wmma_flop_per_cycle_sm", "wmma", WMMA_FLOP, hmma=2),
        multiplications("mma_sync_flop_per_cycle_sm", "mma", MMA_FLOP, hmma=1),
        instructions(),
        arithmetic("fma_per_cycle_sm", "fma", "float", "FFMA"),
        arithmetic("ex2_per_cycle_sm", "ex2", "special_function", "MUFU.EX2"),
    ]


def loads(name: str, load: str, ways: int, wavefronts: int) -> Benchmark:
    """Trips through the banks: 128 bytes each, or one of the lanes that conflict."""
    per_turn = shared_loads.CHAINS * shared_loads.STEPS
    tile = shared_loads.tile_bytes(load, ways)

    def expected(inputs: Inputs):
        moved = int(inputs["repetitions"][0]) * shared_loads.STEPS
        tiles = sum(
            (inputs["x"].astype(int) + chain + moved) % shared_loads.TILES for chain in range(shared_loads.CHAINS)
        )
        return whole(tile * tiles)

    return _benchmark(
        name=name,
        unit="wavefronts/cycle/SM",
        kernel=shared_loads.shared_loads(load, ways),
        start=lambda random, blocks: random.integers(0, 1000, (blocks, 1), np.uint32),
        expected=expected,
        per_warp=per_turn * wavefronts,
        counted=lambda counts: counts["shared_load_wavefronts"],
        machine_code={"LDSM" if load == "ldmatrix" else "LDS": per_turn},
    )


def multiplications(name: str, instruction: str, flop: int, hmma: int) -> Benchmark:
    """flop: of one instruction of a warp. hmma: HMMA that it becomes."""
    per_turn = products.tiles(instruction) * products.STEPS

    def expected(inputs: Inputs):
        added = int(inputs["repetitions"][0]) * products.STEPS
        return whole(32 * (inputs["x"].astype(int) + added) + sum(range(32)))

    return _benchmark(
        name=name,
        unit="FLOP/cycle/SM",
        kernel=products.products(instruction),
        start=lambda random, blocks: random.integers(0, 8, (blocks, THREADS)).astype(np.float32),
        expected=expected,
        per_warp=per_turn * flop,
        counted=lambda counts: counts["mma_flop"],
        machine_code={"HMMA": per_turn * hmma},
    )


def instructions() -> Benchmark:
    """Issue slots."""
    fma, rotations = issue.FMA_CHAINS * issue.STEPS, issue.ROTATIONS * issue.STEPS

    def expected(inputs: Inputs):
        x, steps = inputs["x"], int(inputs["repetitions"][0]) * issue.STEPS
        turn = np.uint32(steps % 32)
        words = [x + np.uint32(chain) for chain in range(issue.ROTATIONS)]
        rotated = [word << turn | word >> (np.uint32(32) - turn) % np.uint32(32) for word in words]
        values = [halved(np.float32(x % 1024) + np.float32(chain), steps) for chain in range(issue.FMA_CHAINS)]
        return whole(sum(rotated) + sum(value.astype(np.uint32) for value in values))

    return _benchmark(
        name="issue_per_cycle_sm",
        unit="warp instructions/cycle/SM",
        kernel=issue.issue(),
        start=lambda random, blocks: random.integers(0, 2**32, (blocks, THREADS), np.uint32),
        expected=expected,
        per_warp=fma + rotations,
        counted=lambda counts: counts["inst_executed_float"] + counts["inst_executed_integer"],
        machine_code={"FFMA": fma, "SHF.L.W": rotations},
        slack=0.005,
    )


def arithmetic(name: str, instruction: str, counted_as: str, opcode: str) -> Benchmark:
    """Lanes' results of one instruction; counted_as: its class among the emulator's counts."""
    steps = chains.STEPS[instruction]
    step = {"fma": halved, "ex2": raised}[instruction]

    def expected(inputs: Inputs):
        starts = [inputs["x"] + np.float32(chain) for chain in range(chains.CHAINS)]
        total = sum(step(start, int(inputs["repetitions"][0]) * steps).astype(np.float64) for start in starts)
        why = "ex2 good to 2^-22, its slope 4/9 there, eight of them, and the sum's roundings"
        return {"out": Expected(total, np.full(total.shape, 2.0**-18), why)}

    return _benchmark(
        name=name,
        unit="lanes/cycle/SM",
        kernel=chains.chains(instruction),
        start=lambda random, blocks: random.uniform(0, 4, (blocks, THREADS)).astype(np.float32),
        expected=expected,
        per_warp=chains.CHAINS * steps * WARP,
        counted=lambda counts: WARP * counts[f"inst_executed_{counted_as}"],
        machine_code={opcode: chains.CHAINS * steps},
    )


def halved(values: np.ndarray, steps: int) -> np.ndarray:
    """v = v / 2 + 1 in f32, rounded once because v / 2 is exact."""
    for _ in range(min(steps, SETTLED)):
        values = values * np.float32(0.5) + np.float32(1)
    return values


def raised(values: np.ndarray, steps: int) -> np.ndarray:
    """v = 2⁻ᵛ in f64."""
    values = values.astype(np.float64)
    for _ in range(min(steps, SETTLED)):
        values = np.exp2(-values)
    return values


def _benchmark(per_warp: int, start: Callable, **described) -> Benchmark:
    """start(random, blocks): x, of which every lane gets its own or every block one number."""

    def inputs(blocks: int, turns: int) -> Inputs:
        random = np.random.default_rng(turns)
        x = np.ascontiguousarray(np.broadcast_to(start(random, blocks), (blocks, THREADS)))
        return {"x": x, "repetitions": np.array([turns], np.int32)}

    return Benchmark(
        small=partial(inputs, SMALL_BLOCKS),
        full=lambda sms, l2: inputs(sms, TURNS),
        work=lambda inputs: len(inputs["x"]) * int(inputs["repetitions"][0]) * WARPS * per_warp,
        rate=per_cycle_and_sm,
        **described,
    )
