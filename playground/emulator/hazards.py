"""What can go wrong in a kernel without its result showing it. One Hazard per kind and instruction."""

from dataclasses import dataclass

import numpy as np

SHARED_BOUNDS = "shared access out of bounds"
SHARED_ALIGNMENT = "misaligned shared access"
GLOBAL_BOUNDS = "global access out of bounds"
GLOBAL_ALIGNMENT = "misaligned global access"
LOCAL_BOUNDS = "local access out of bounds"
LOCAL_ALIGNMENT = "misaligned local access"
UNINITIALISED = "uninitialised shared read"
ASYNC_READ = "read of an unfinished cp.async"
ASYNC_WRITE = "write over an unfinished cp.async"
ASYNC_LOST = "cp.async never waited for"
READ_AFTER_WRITE = "shared read-after-write race"
WRITE_AFTER_READ = "shared write-after-read race"
WRITE_AFTER_WRITE = "shared write-after-write race"
GLOBAL_WRITES = "global write-write race"
GLOBAL_READ = "global read-write race"
BARRIER = "divergent barrier"
SYNC = "divergent .sync instruction"
UNIFORM = "non-uniform matrix address"

FIXES = {
    SHARED_BOUNDS: "Keep the offset below the shared bytes that the launch asks for, or ask for more.",
    SHARED_ALIGNMENT: "Make the offset and the row stride multiples of the access's size.",
    GLOBAL_BOUNDS: "Mask the lanes beyond the array's end, or check the base, the strides and the integer width.",
    GLOBAL_ALIGNMENT: "Make the address a multiple of the access's size, or use a narrower access.",
    LOCAL_BOUNDS: "Keep the index inside the local array.",
    LOCAL_ALIGNMENT: "Make the local offset a multiple of the access's size.",
    UNINITIALISED: "Write or stage this shared memory before it is read; check that the staging loop covers all of it.",
    ASYNC_READ: "Wait for the copy's group in the thread that issued it (wait_group), then a barrier, then read.",
    ASYNC_WRITE: "Wait for the copy that is under way before writing its destination again.",
    ASYNC_LOST: "Commit the copy and wait for its group before the thread ends.",
    READ_AFTER_WRITE: "Put a barrier between the write and the read of the other warp.",
    WRITE_AFTER_READ: "Put a barrier between the last read and the write that reuses the memory, or use two buffers.",
    WRITE_AFTER_WRITE: "Give each warp its own addresses, or put a barrier between the two writes.",
    GLOBAL_WRITES: "Give each block its own outputs, or combine them with atomics.",
    GLOBAL_READ: "Do not read in one block what another block writes: split the kernel, or use atomics and fences.",
    BARRIER: "Let every thread of the block reach the same barrier: move it out of the branch and before any return.",
    SYNC: "Let all lanes of the warp reach the instruction together: move it out of the branch, or mend its mask.",
    UNIFORM: "Compute the matrix address and stride from values that are the same in all lanes of the warp.",
}


@dataclass
class Hazard:
    """Where it happened first, how often, and what would mend it.

    block: (x, y, z). warp and lanes: None and () where only the block is known, as of races through global memory.
    count: lanes, or memory cells and warps, that it happened to.
    """

    kind: str
    file: str
    line: int
    instruction: str
    block: tuple[int, int, int]
    warp: int | None
    lanes: tuple[int, ...]
    count: int
    detail: str
    fix: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else "unknown Python line"
        detail = f" ({self.detail})" if self.detail else ""
        return (
            f"{where}: {self.kind}{detail}, {self.count} times, first in block {self.block}{self._lanes()}:"
            f" {self.instruction}. {self.fix}"
        )

    def _lanes(self) -> str:
        return "" if self.warp is None else f", warp {self.warp}, lanes {_ranges(self.lanes)}"


def _ranges(lanes: tuple[int, ...]) -> str:
    runs: list[list[int]] = []
    for lane in lanes:
        if runs and lane == runs[-1][1] + 1:
            runs[-1][1] = lane
        else:
            runs.append([lane, lane])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


class HazardLog:
    """Collects hazards. The first occurrence is the one in the lowest block and warp, however the grid is executed."""

    def __init__(self, instructions, grid: tuple[int, int, int]):
        self.instructions = instructions
        self.grid = grid
        self.found: dict[tuple[str, int], tuple[int, Hazard]] = {}

    def report(self, kind: str, instruction: int, blocks, warps=None, lanes=None, detail: str = ""):
        """blocks, warps, lanes: ints (n,), one per occurrence: linear block, warp in block, lane in warp."""
        where = blocks.astype(np.int64) << 32 | (0 if warps is None else warps)
        first = int(where.min())
        place = first >> 32, None if warps is None else first & 0xFFFFFFFF
        own = () if lanes is None else tuple(np.unique(lanes[where == first]).tolist())
        count = len(where)
        known = self.found.get((kind, instruction))
        if known:
            count += known[1].count
            if known[0] <= first:
                known[1].count = count
                return
        line = self.instructions[instruction]
        block = self._coordinates(place[0])
        hazard = Hazard(kind, line.file, line.line, line.text, block, place[1], own, count, detail, FIXES[kind])
        self.found[kind, instruction] = first, hazard

    def _coordinates(self, block: int) -> tuple[int, int, int]:
        x, y, _ = self.grid
        return block % x, block // x % y, block // (x * y)

    def hazards(self) -> list[Hazard]:
        """In the order of the instructions."""
        return [hazard for _, (_, hazard) in sorted(self.found.items(), key=lambda item: (item[0][1], item[0][0]))]
