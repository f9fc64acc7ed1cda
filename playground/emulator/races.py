"""The closer look at one epoch's doubtful accesses to shared memory: which of them are hazards, and of which kind."""

import numpy as np

from playground.emulator import hazards
from playground.emulator.shared_memory import (
    ATOMIC,
    IN_FLIGHT,
    ISSUE,
    LAND,
    READ,
    UNWRITTEN,
    WRITE,
    SharedMemory,
    Table,
)


class Judge:
    """Reports what it finds to a chunk's hazard log. `ordered(a, b)`: bool, whether row a happens before row b."""

    def __init__(self, chunk):
        self.chunk = chunk

    def __call__(self, memory: SharedMemory, table: Table):
        table = table[np.lexsort((table.time, table.warp, table.cell))]
        in_flight = self._unfinished_copies(memory, table)
        self._uninitialised(memory, table, in_flight)
        self._races(_first_of_each(table))

    def _unfinished_copies(self, memory: SharedMemory, table: Table):
        """A warp's own copy is in flight from its issue to its landing; others' from earlier epochs until they land."""
        start = memory.state[table.cell] == IN_FLIGHT
        own = memory.copier[table.cell] == table.warp
        step = (table.kind == ISSUE).astype(int) - (table.kind == LAND)
        running = _before_in_group(step, table) + (start & own)
        landed = np.isin(table.cell, table.cell[table.kind == LAND])
        in_flight = (running > 0) | (start & ~own & ~landed)
        self._report(hazards.ASYNC_READ, table, in_flight & np.isin(table.kind, (READ, ATOMIC)))
        self._report(hazards.ASYNC_WRITE, table, in_flight & np.isin(table.kind, (WRITE, ISSUE)))
        return in_flight

    def _uninitialised(self, memory: SharedMemory, table: Table, in_flight):
        """Another warp's write in the same epoch makes it a race instead."""
        plain = np.isin(table.kind, (WRITE, LAND, ISSUE))
        written = _before_in_group(np.isin(table.kind, (WRITE, LAND)).astype(int), table) > 0
        by_any = np.zeros(len(memory.state), np.int32)
        by_own = np.zeros(len(table.cell), np.int32)
        np.add.at(by_any, table.cell[plain], 1)
        groups = _group_numbers(table)
        own_count = np.bincount(groups, plain, minlength=groups[-1] + 1)
        by_own = own_count[groups]
        elsewhere = by_any[table.cell] > by_own
        never = (memory.state[table.cell] == UNWRITTEN) & ~written & ~elsewhere & ~in_flight
        self._report(hazards.UNINITIALISED, table, never & np.isin(table.kind, (READ, ATOMIC)))

    def _races(self, table: Table):
        first, second = _conflicts(table)
        if not len(first):
            return
        later = table.time[first] > table.time[second]
        first, second = np.where(later, second, first), np.where(later, first, second)
        apart = ~self.chunk.ordered(table, first, second)
        first, second = first[apart], second[apart]
        lands = (table.kind[second] == LAND) & np.isin(table.kind[first], (READ, ATOMIC, WRITE))
        self._before_landing(table, first[lands])
        first, second = first[~lands], second[~lands]
        reads_first, reads_second = table.kind[first] == READ, table.kind[second] == READ
        for kind, chosen in (
            (hazards.READ_AFTER_WRITE, reads_second),
            (hazards.WRITE_AFTER_READ, reads_first),
            (hazards.WRITE_AFTER_WRITE, ~reads_first & ~reads_second),
        ):
            self._report_pairs(kind, table, first[chosen], second[chosen])

    def _before_landing(self, table: Table, rows):
        """Another warp's copy landed later in the epoch: until then it was unfinished for these too."""
        early = np.zeros(len(table.cell), bool)
        early[rows] = True
        self._report(hazards.ASYNC_READ, table, early & (table.kind != WRITE))
        self._report(hazards.ASYNC_WRITE, table, early & (table.kind == WRITE))

    def _report_pairs(self, kind: str, table: Table, first, second):
        for instruction in np.unique(table.instruction[second]):
            chosen = table.instruction[second] == instruction
            other = self.chunk.launch.instructions[int(table.instruction[first[chosen]].min())]
            rows = np.zeros(len(table.cell), bool)
            rows[second[chosen]] = True
            self._report(kind, table, rows, f"with {other.where}: {other.text}")

    def _report(self, kind: str, table: Table, rows, detail: str = ""):
        for instruction in np.unique(table.instruction[rows]):
            self.chunk.report(kind, int(instruction), table.lane[rows & (table.instruction == instruction)], detail)


def _group_numbers(table: Table):
    """Rows are sorted by cell, then warp: number those groups."""
    new = np.ones(len(table.cell), bool)
    new[1:] = (table.cell[1:] != table.cell[:-1]) | (table.warp[1:] != table.warp[:-1])
    return np.cumsum(new) - 1


def _before_in_group(step, table: Table):
    """Sum of `step` over the earlier rows of the same cell and warp."""
    groups = _group_numbers(table)
    running = np.cumsum(step) - step
    starts = np.searchsorted(groups, np.arange(groups[-1] + 1))
    return running - running[starts][groups]


def _first_of_each(table: Table) -> Table:
    """Pairs need each warp's accesses once per cell, kind and instruction: the earliest."""
    order = np.lexsort((table.time, table.release, table.instruction, table.kind, table.warp, table.cell))
    table = table[order]
    new = np.ones(len(order), bool)
    same = [
        column[1:] == column[:-1] for column in (table.cell, table.warp, table.kind, table.instruction, table.release)
    ]
    new[1:] = ~np.logical_and.reduce(same)
    return table[new]


def _conflicts(table: Table):
    """Rows (a, b) of different warps on one cell, at least one a write, not both atomic. The table goes by cells."""
    writes = np.flatnonzero(table.kind != READ)
    start = np.searchsorted(table.cell, table.cell[writes], "left")
    length = np.searchsorted(table.cell, table.cell[writes], "right") - start
    first = np.repeat(writes, length)
    second = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length) + np.repeat(start, length)
    both_write = table.kind[second] != READ
    both_atomic = (table.kind[first] == ATOMIC) & (table.kind[second] == ATOMIC)
    chosen = (table.warp[first] != table.warp[second]) & ~both_atomic & (~both_write | (first < second))
    return first[chosen], second[chosen]
