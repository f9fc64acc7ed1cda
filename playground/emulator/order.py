"""Which accesses of two warps are ordered by the barriers between them.

Time is counted in releases: each barrier that lets warps go starts a new one. seen[block, u, w] says up to which
release warp u has been told of warp w's accesses: vector clocks, as in Flanagan & Freund 2009, "FastTrack".
"""

import numpy as np


class Order:
    def __init__(self, slots: int, warps: int):
        self.warps = warps
        self.shape = (slots, warps, warps)
        self.start()

    def start(self):
        """All that was is ordered before all that will be."""
        self.releases = 0
        self.seen = np.zeros(self.shape, np.int32)
        self.history = [self.seen]
        self.arrived: dict[tuple[int, int], list] = {}

    def arrive(self, slot: int, barrier: int, warps):
        """Warps announce their accesses so far at a barrier that they do not wait for."""
        announced = self._announce(slot, warps)
        self.arrived.setdefault((slot, barrier), []).append(announced)
        self._advance()

    def release(self, slot: int, barrier: int, warps):
        """Warps that waited at a barrier learn of each other's accesses and of those announced there."""
        announced = [self._announce(slot, warps), *self.arrived.pop((slot, barrier), ())]
        known = np.maximum.reduce(announced)
        self.seen = self.seen.copy()
        self.seen[slot, warps] = np.maximum(self.seen[slot, warps], known)
        self._advance()

    def _announce(self, slot: int, warps):
        known = self.seen[slot, warps].max(0)
        known[warps] = self.releases + 1
        return known

    def _advance(self):
        self.releases += 1
        self.history.append(self.seen)

    def before(self, table, first, second):
        """bool: row `first` of a table of accesses happens before row `second`."""
        if self.releases == 0:
            return np.zeros(len(first), bool)
        history = np.stack(self.history)
        slot = table.warp[first] // self.warps
        of, by = table.warp[first] % self.warps, table.warp[second] % self.warps
        return history[table.release[second], slot, by, of] > table.release[first]
