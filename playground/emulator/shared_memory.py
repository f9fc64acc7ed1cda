"""Shared memory of the blocks that run together, and the check of who may see what.

Checks look at one epoch at a time, from barrier to barrier: all accesses are noted as they happen and judged together
when the epoch ends, so that the verdict does not depend on the order in which the emulator ran the warps. Memory is
judged in cells of the smallest access that the kernel makes. A copy by cp.async counts twice as a write of its
destination: where it is issued and where its thread's wait lets it land; between the two the cell is in flight.
Blind spots: races between lanes of one warp, and an access beyond one array that hits another.
"""

from dataclasses import dataclass

import numpy as np

from playground.emulator import hazards
from playground.emulator.spaces import drop, zeroed_words

READ, WRITE, ATOMIC, ISSUE, LAND = range(5)
UNWRITTEN, READY, IN_FLIGHT = range(3)
NOBODY, BY_ATOMICS, ISSUED = -1, 1 << 29, 1 << 30
COMPACT_AT = 1 << 21


@dataclass
class Noted:
    """What one executed instruction did to which cells. cells: (n, per lane); the other arrays: (n, 1)."""

    kind: int
    instruction: int
    cells: np.ndarray
    warps: np.ndarray
    lanes: np.ndarray
    times: np.ndarray
    releases: int


class SharedMemory:
    """`blocks` memories of `size` bytes each; lanes address theirs from 0."""

    def __init__(self, size: int, blocks: int, cell: int, checked: bool):
        self.size = size
        self.stride = -(-max(size, 1) // 128) * 128
        self.cell = cell
        self.checked = checked
        self.words = zeroed_words(blocks * self.stride)
        self.log: list[Noted] = []
        self.logged = 0
        if checked:
            cells = blocks * self.stride // cell
            self.state = np.zeros(cells, np.int8)
            self.copier = np.full(cells, NOBODY, np.int32)
            self.writer = np.full(cells, NOBODY, np.int32)

    @staticmethod
    def bytes_per_block(size: int, cell: int, checked: bool) -> int:
        return size + (9 * size // cell if checked else 0)

    def locate(self, group, instruction: int, lanes, address, size: int):
        """(lanes, byte offsets) of the accesses that are inside and aligned; the others are reported and dropped."""
        address = address.astype(np.int64)
        outside = (address < 0) | (address > self.size - size)
        if outside.any():
            worst = int(address[outside].max())
            detail = f"{size} bytes at {worst:,} of {self.size:,}"
            lanes, address = drop(group, hazards.SHARED_BOUNDS, instruction, lanes, address, outside, detail)
        uneven = address & (size - 1) != 0
        if uneven.any():
            detail = f"{size} bytes at {int(address[uneven][0]):,}"
            lanes, address = drop(group, hazards.SHARED_ALIGNMENT, instruction, lanes, address, uneven, detail)
        return lanes, address + group.shared_base[lanes]

    def note(self, group, kind: int, instruction: int, lanes, offsets, size: int, at: int | None = None):
        """Remember an access for the end of the epoch. offsets: (n,) from `locate`; at: the instruction being executed,
        where that is not the one that the access belongs to."""
        if not self.checked or not len(offsets):
            return
        cells = offsets[:, None] // self.cell + np.arange(size // self.cell)
        access = Noted(
            kind,
            instruction,
            cells,
            group.warps[lanes][:, None],
            group.chunk_lanes[lanes][:, None],
            group.times(instruction if at is None else at, lanes)[:, None],
            group.chunk.releases,
        )
        self.log.append(access)
        self.logged += cells.size
        if self.logged > COMPACT_AT:
            self.log = _compact(self.log)
            self.logged = max(sum(access.cells.size for access in self.log), COMPACT_AT // 2)

    def settle(self, judge):
        """End the epoch: hand what looks wrong to `judge(self, table)`, and make writes visible."""
        log, self.log, self.logged = self.log, [], 0
        if not log:
            return
        doubtful = self._mark_writers(log)
        doubtful += [access.cells[found] for access in log if (found := self._doubtful(access)).any()]
        if doubtful:
            judge(self, _table(log, np.unique(np.concatenate(doubtful))))
        for access in log:
            if access.kind != READ:
                self.writer[access.cells] = NOBODY
                self.state[access.cells] = IN_FLIGHT if access.kind == ISSUE else READY
                if access.kind == ISSUE:
                    self.copier[access.cells] = access.warps

    def _mark_writers(self, log: list[Noted]) -> list:
        """Note in each cell who wrote it; the cells into which two copies were issued."""
        twice = []
        for access in sorted(log, key=lambda access: _PRECEDENCE.index(access.kind)):
            if access.kind == ISSUE:
                issued = self.writer[access.cells] >= ISSUED
                if issued.any():
                    twice.append(access.cells[issued])
            if access.kind != READ:
                self.writer[access.cells] = _OWNER[access.kind](access.warps)
        return twice

    def _doubtful(self, access: Noted):
        """bool, like cells: what needs a closer look. All that is wrong is among it, and a little that is not."""
        owner, state = self.writer[access.cells], self.state[access.cells]
        if access.kind == READ:
            return (state != READY) | ((owner != NOBODY) & (owner != access.warps))
        if access.kind == ATOMIC:
            return (state != READY) | (owner != BY_ATOMICS)
        if access.kind == LAND:
            return owner & ~ISSUED != access.warps
        return (state == IN_FLIGHT) | (owner != _OWNER[access.kind](access.warps))


# What a cell shows of an epoch in which several things happened to it: that which needs the closest look.
_PRECEDENCE = (READ, WRITE, LAND, ISSUE, ATOMIC)
_OWNER = {
    WRITE: lambda warps: warps,
    LAND: lambda warps: warps,
    ISSUE: lambda warps: warps | ISSUED,
    ATOMIC: lambda warps: BY_ATOMICS,
}


@dataclass
class Table:
    """Accesses to doubtful cells, one row per cell; all arrays (rows,)."""

    kind: np.ndarray
    instruction: np.ndarray
    cell: np.ndarray
    warp: np.ndarray
    lane: np.ndarray
    time: np.ndarray
    release: np.ndarray

    def __getitem__(self, rows) -> "Table":
        return Table(*(column[rows] for column in vars(self).values()))


def _table(log: list[Noted], cells) -> Table:
    parts = []
    for access in log:
        chosen = np.isin(access.cells, cells)
        rows = chosen.nonzero()[0]
        of_all = [np.full(len(rows), each) for each in (access.kind, access.instruction, access.releases)]
        of_lane = [each[rows, 0] for each in (access.warps, access.lanes, access.times)]
        parts.append((*of_all[:2], access.cells[chosen], *of_lane, of_all[2]))
    return Table(*map(np.concatenate, zip(*parts)))


def _compact(log: list[Noted]) -> list[Noted]:
    """A long epoch repeats itself: keep each instruction's first read and write of a cell by a warp."""
    kept = [access for access in log if access.kind in (ISSUE, LAND)]
    groups: dict[tuple, list[Noted]] = {}
    for access in log:
        if access.kind not in (ISSUE, LAND):
            groups.setdefault((access.kind, access.instruction, access.releases), []).append(access)
    for (kind, instruction, releases), accesses in groups.items():
        cells = np.concatenate([access.cells.ravel() for access in accesses])
        columns = [
            np.concatenate([np.broadcast_to(getattr(access, name), access.cells.shape).ravel() for access in accesses])
            for name in ("warps", "lanes", "times")
        ]
        order = np.lexsort((columns[2], columns[0], cells))
        cells, columns = cells[order], [column[order] for column in columns]
        new = np.ones(len(cells), bool)
        new[1:] = (cells[1:] != cells[:-1]) | (columns[0][1:] != columns[0][:-1])
        kept.append(
            Noted(kind, instruction, cells[new][:, None], *(column[new][:, None] for column in columns), releases)
        )
    return kept
