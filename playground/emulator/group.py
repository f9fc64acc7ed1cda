"""Lanes that run together: one warp, one block, or the blocks of a chunk, as NumPy arrays over all of their lanes."""

from copy import copy

import numpy as np

from playground.emulator import hazards
from playground.emulator.special import Special

WAITING = 1 << 24
ENDED = 1 << 28
ALL = slice(None)


class Group:
    """chunk_lanes: int64 (lanes,), whole warps of the chunk, ascending. Registers are (lanes,) arrays or scalars.

    pc: index of the basic block that each lane runs next, an int while all lanes agree, else int64 (lanes,); WAITING is
    added to it at a barrier, and it is ENDED after the last instruction. clock: instructions executed, int64 (warps,).
    copies, commits: cp.asyncs that have not landed, and how many groups each lane has committed.
    """

    def __init__(self, chunk, chunk_lanes, registers):
        self.chunk = chunk
        self.launch = chunk.launch
        self.registers = registers
        self._place(chunk_lanes)
        missing = chunk.missing[chunk_lanes]
        self.pc = np.where(missing, ENDED, 0) if missing.any() else 0
        self.clock = np.zeros(self.size // 32, np.int64)
        self.block_start = 0
        self.commits = np.zeros(self.size, np.int64)
        self.copies = []

    def _place(self, chunk_lanes):
        chunk = self.chunk
        self.size = len(chunk_lanes)
        self.chunk_lanes = chunk_lanes
        self.positions = np.arange(self.size)
        self.rows = self.positions >> 5
        self.warps = (chunk_lanes >> 5).astype(np.int32)
        self.slots = chunk_lanes // chunk.lanes_per_block
        self.blocks = chunk.blocks[self.slots]
        self.warp_in_block = (chunk_lanes % chunk.lanes_per_block) >> 5
        self.shared_base = self.slots * chunk.shared.stride
        self.special = Special(self)

    def split(self, chosen) -> "Group":
        """Move the chosen lanes, bool (lanes,) of whole blocks, to a group of their own, and return that."""
        other = copy(self)
        other._take(chosen)
        self._take(~chosen)
        return other

    def _take(self, chosen):
        self.registers = [register[chosen] if np.ndim(register) else register for register in self.registers]
        self.pc = self.pc if isinstance(self.pc, int) else self.pc[chosen]
        self.clock, self.commits = self.clock[chosen[::32]], self.commits[chosen]
        self._place(self.chunk_lanes[chosen])
        self.copies = [part for each in self.copies if (part := each.of(self.chunk_lanes))]

    @property
    def ended(self):
        """bool (lanes,), or one bool."""
        return self.pc == ENDED

    def positions_of(self, chunk_lanes):
        """Where these lanes of the chunk, which must be in the group, are in it."""
        first, last = self.chunk_lanes[0], self.chunk_lanes[-1]
        if last - first + 1 == self.size:
            return chunk_lanes - first
        return np.searchsorted(self.chunk_lanes, chunk_lanes)

    def active(self, mask):
        """Positions of the lanes that take part: a slice of all of them, or int (n,)."""
        return ALL if mask is None else np.flatnonzero(mask)

    def spread(self, value):
        """A register as an array (lanes,)."""
        return value if np.ndim(value) else np.broadcast_to(value, (self.size,))

    def gather(self, lanes, value):
        return self.spread(value)[lanes]

    def place(self, lanes, values):
        """Values of the given lanes as an array (lanes,), 0 elsewhere."""
        if isinstance(lanes, slice):
            return values
        result = np.zeros((self.size, *values.shape[1:]), values.dtype)
        result[lanes] = values
        return result

    def by_warp(self, lanes, values):
        """(warps, 32) of the values and, unless all lanes take part, of which lanes do."""
        if isinstance(lanes, slice):
            return values.reshape(-1, 32), None
        active = np.zeros(self.size, bool)
        active[lanes] = True
        return self.place(lanes, values).reshape(-1, 32), active.reshape(-1, 32)

    def full_warps(self, mask, instruction: int, hazard: str):
        """Rows of the warps that execute an instruction for all 32 lanes; if only a part of a warp came, report it."""
        if mask is None:
            return ALL
        active = mask.reshape(-1, 32)
        some = active.any(1)
        partial = some & ~active.all(1)
        if partial.any():
            lanes = np.flatnonzero(mask & np.repeat(partial, 32))
            self.report(hazard, instruction, lanes, "only a part of the warp's lanes reached it")
        return np.flatnonzero(some)

    def check_members(self, mask, instruction: int, members):
        """Report lanes that execute a .sync instruction without those that its member mask names, or unnamed."""
        if mask is None and np.ndim(members) == 0 and members == 0xFFFFFFFF:
            return
        here = np.ones(self.size, bool) if mask is None else mask
        bits = np.uint32(1) << np.arange(32, dtype=np.uint32)
        named = (self.spread(members).reshape(-1, 32, 1) & bits) != 0
        awaited = ~np.broadcast_to(self.ended, (self.size,)).reshape(-1, 1, 32) & named
        absent = (awaited & ~here.reshape(-1, 1, 32)).any(2)
        unnamed = ~np.diagonal(named, axis1=1, axis2=2)
        wrong = (absent | unnamed).ravel() & here
        if wrong.any():
            self.report(hazards.SYNC, instruction, np.flatnonzero(wrong), "its member mask and the lanes here differ")

    def times(self, instruction: int, lanes):
        """When, in instructions that the lane's warp has executed: int64, one per lane."""
        return (self.clock + (instruction - self.block_start))[self.rows[lanes]]

    def report(self, kind: str, instruction: int, positions, detail: str = ""):
        self.launch.hazards.report(
            kind,
            instruction,
            self.blocks[positions],
            self.warp_in_block[positions],
            self.chunk_lanes[positions] & 31,
            detail,
        )
