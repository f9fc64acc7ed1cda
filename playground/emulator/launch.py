"""launch: run a kernel's PTX on a grid, in memory that is bounded however large the grid is."""

import math
import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from playground.emulator import scheduler
from playground.emulator.chunk import Chunk
from playground.emulator.classify import memory_accesses
from playground.emulator.counts import Counts
from playground.emulator.errors import BadLaunch
from playground.emulator.global_memory import Arena, GlobalMemory
from playground.emulator.hazards import Hazard, HazardLog
from playground.emulator.parse import parse
from playground.emulator.program import Program
from playground.emulator.shared_memory import SharedMemory
from playground.emulator.types import UNSIGNED, WIDTH, is_float, size, value

MODES = ("warp", "block", "grid")
GRID_LIMITS = (2**31 - 1, 65535, 65535)
BLOCK_LIMITS = (1024, 1024, 64)
THREADS = 1024
SHARED_BYTES = 227 * 1024
CHUNK_BYTES = 512 << 20
CHUNK_LANES = 16384
BUDGET = 2_000_000
PROGRAMS = 32


@dataclass
class Report:
    """What a run left. outputs: the arrays in global memory, in the order in which they were placed; seconds: wall.

    bytes_read: from each of the arrays, as often as lanes asked for them.
    """

    hazards: list[Hazard]
    counts: Counts
    outputs: list[np.ndarray]
    bytes_read: list[int]
    seconds: float

    @property
    def clean(self) -> bool:
        return not self.hazards


def launch(
    ptx: str,
    grid,
    block,
    parameters,
    buffers: GlobalMemory,
    shared_bytes: int = 0,
    *,
    mode: str = "grid",
    checks: bool = True,
    budget: int = BUDGET,
) -> Report:
    """Run the one kernel of a PTX module.

    grid, block: up to three ints each. parameters: raw values in the kernel's order, ints (addresses from
    `buffers.place`, scalars) or floats for .f32 and .f64. shared_bytes: dynamic shared memory. mode: how many lanes are
    executed together, which changes the speed and nothing else. checks: look for races and uninitialised reads; bounds
    and barriers are always looked at. budget: instructions that one warp may execute.

    Raises BadLaunch (a ValueError) for what a GPU would refuse, UnknownInstruction, BudgetExceeded. Hazards do not stop
    the run: accesses out of bounds or misaligned read zeros and write nothing.
    """
    started = time.perf_counter()
    run = Launch(_program(ptx), extent(grid, "grid"), extent(block, "block"), parameters, buffers, shared_bytes)
    run.start(mode, checks, budget)
    outputs, read = list(buffers.arrays.values()), run.arena.bytes_read()
    return Report(run.hazards.hazards(), run.counts, outputs, read, time.perf_counter() - started)


def extent(given, what: str) -> tuple[int, int, int]:
    """A "grid" or "block" as (x, y, z), within what a GPU takes."""
    values = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if not 1 <= len(values) <= 3 or not all(isinstance(each, (int, np.integer)) for each in values):
        raise BadLaunch(f"the {what} is {given!r}: it must be one to three integers")
    values = tuple(map(int, values)) + (1,) * (3 - len(values))
    for axis, number, limit in zip("xyz", values, GRID_LIMITS if what == "grid" else BLOCK_LIMITS):
        if not 1 <= number <= limit:
            raise BadLaunch(f"the {what} is {values}: {axis} = {number:,} is not between 1 and {limit:,}")
    return values


def at_least(least: int, given, what: str) -> int:
    """A "budget" and the like, which must be an integer and not less."""
    if not isinstance(given, (int, np.integer)) or isinstance(given, bool) or given < least:
        raise BadLaunch(f"{what} is {given!r}: it must be an integer, {least} or more")
    return int(given)


@lru_cache(maxsize=PROGRAMS)
def _program(ptx: str) -> Program:
    """Translated once: the last PROGRAMS kernels are kept."""
    return Program(parse(ptx))


class Launch:
    """One run: what all chunks share."""

    def __init__(self, program: Program, grid, block, parameters, buffers: GlobalMemory, shared_bytes: int):
        self.program = program
        self.instructions = program.instructions
        self.grid, self.block = grid, block
        self.threads = math.prod(block)
        self.lanes_per_block = -(-self.threads // 32) * 32
        self.dynamic_shared = at_least(0, shared_bytes, "shared_bytes")
        self.buffers = buffers
        self.shared_bytes = program.dynamic_start + self.dynamic_shared
        self._check_limits()
        self.parameters = self._bind(parameters)

    def _check_limits(self):
        entry = self.program.entry
        if self.threads > THREADS:
            raise BadLaunch(f"a block of {self.block} has {self.threads:,} threads: the limit is {THREADS:,}")
        if entry.limit and self.threads > entry.limit:
            raise BadLaunch(f"the kernel was compiled for at most {entry.limit} threads, the block has {self.threads}")
        if self.shared_bytes > SHARED_BYTES:
            raise BadLaunch(f"{self.shared_bytes:,} bytes of shared memory per block: the limit is {SHARED_BYTES:,}")
        if not isinstance(self.buffers, GlobalMemory):
            raise BadLaunch(f"buffers must be a GlobalMemory, not {type(self.buffers).__name__}")

    def _bind(self, parameters):
        declared = self.program.entry.parameters
        parameters = list(parameters)
        if len(parameters) != len(declared):
            raise BadLaunch(f"the kernel takes {len(declared)} parameters, {len(parameters)} were given")
        return {
            name: _scalar(given, kind, place) for place, ((name, kind), given) in enumerate(zip(declared, parameters))
        }

    def parameter(self, name: str, offset: int, kind: str):
        """A kernel parameter as ld.param reads it."""
        data = self.parameters[name]
        return np.frombuffer(data[offset : offset + size(kind)], value(kind))[0]

    def address(self, name: str):
        """The address of a variable in its own state space, uint64."""
        place = self.program.symbols.get(name)
        return np.uint64(self.arena.symbols[name] if place is None else place)

    def start(self, mode: str, checks: bool, budget: int):
        if mode not in MODES:
            raise BadLaunch(f"mode {mode!r}: it must be one of {', '.join(MODES)}")
        self.prepare(checks, at_least(1, budget, "budget"))
        with np.errstate(all="ignore"):
            for blocks in self._chunks(mode):
                chunk = Chunk(self, blocks)
                scheduler.run(chunk, chunk.groups(by_warp=mode == "warp"))
        self.arena.report_races(self.hazards)
        self.arena.copy_out()
        self.counts.finish()

    def prepare(self, checks: bool, budget: int):
        self.checks, self.budget = checks, budget
        self.shared_cell, global_cell, touching = memory_accesses(self.instructions)
        constants = [(variable.name, variable.data) for variable in self.program.module.globals]
        self.arena = Arena(self.buffers, constants, global_cell, touching, checks)
        self.counts = Counts(self.instructions, self.program.blocks)
        self.hazards = HazardLog(self.instructions, self.grid)

    def _chunks(self, mode: str):
        total = math.prod(self.grid)
        count = self.blocks_per_chunk() if mode == "grid" else 1
        for first in range(0, total, count):
            yield np.arange(first, min(first + count, total))

    def blocks_per_chunk(self) -> int:
        """As many blocks as CHUNK_BYTES hold and CHUNK_LANES lanes: beyond that, arrays outgrow the caches."""
        registers = sum(max(WIDTH[kind] // 8, 1) for kind in self.program.kinds.values())
        per_lane = registers + self.program.local_bytes
        shared = SharedMemory.bytes_per_block(self.shared_bytes, self.shared_cell, self.checks)
        per_block = self.lanes_per_block * per_lane + shared
        return max(1, min(CHUNK_BYTES // per_block, CHUNK_LANES // self.lanes_per_block))


def _scalar(given, kind: str, place: int) -> bytes:
    """The bytes of a parameter of a PTX type."""
    if "[" in kind:
        raise BadLaunch(f"parameter {place} is a structure ({kind}): the emulator passes numbers and addresses")
    if isinstance(given, (bool, np.bool_)):
        given = int(given)
    if is_float(kind):
        if not isinstance(given, (int, float, np.integer, np.floating)):
            raise BadLaunch(f"parameter {place} is {kind}, and {given!r} is no number")
        return np.asarray(given).astype(value(kind)).tobytes()
    if isinstance(given, np.floating | float) and kind[0] == "b":
        return np.asarray(given, np.float64 if WIDTH[kind] == 64 else np.float32).tobytes()
    if not isinstance(given, (int, np.integer)):
        raise BadLaunch(f"parameter {place} is {kind}: it must be an integer, not {type(given).__name__}")
    width = WIDTH[kind]
    if not -(1 << width - 1) <= given < 1 << width:
        raise BadLaunch(f"parameter {place} is {kind}: {given} does not fit in {width} bits")
    return UNSIGNED[width].type(int(given) % (1 << width)).tobytes()
