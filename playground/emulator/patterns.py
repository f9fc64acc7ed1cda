"""How many trips a warp's addresses cost: wavefronts over 32 banks of shared memory, 32-byte sectors of global memory.

Addresses come as int64 (warps, 32); `active` says which lanes take part, None: all. Patterns repeat from loop step to
loop step and from warp to warp, so one row's answer is remembered by its addresses relative to the first.
Source: CUDA C++ Programming Guide, "Shared Memory" (compute capability 5.x and later) and "Device Memory Accesses".
"""

import numpy as np

BANKS = 32
BANK_BYTES = 4
SECTOR_BYTES = 32
REMEMBERED = 4096


class Patterns:
    def __init__(self):
        self.remembered: dict = {}

    def wavefronts(self, addresses, active, size: int) -> tuple[int, int]:
        """(wavefronts, their number without bank conflicts) of an access of `size` bytes per lane.

        Lanes go in phases that fill the banks once: 32 lanes up to 4 bytes, 16 at 8 bytes, 8 at 16 bytes.
        """
        return self._count(_wavefronts, addresses, active, size, BANK_BYTES)

    def sectors(self, addresses, active, size: int) -> tuple[int, int]:
        """(sectors touched, bytes touched): each counted once per warp and instruction."""
        return self._count(_sectors, addresses, active, size, SECTOR_BYTES)

    def _count(self, function, addresses, active, size: int, unit: int) -> tuple[int, int]:
        if active is not None:
            addresses, active = _fill(addresses, active)
        if not len(addresses):
            return 0, 0
        relative = addresses - (addresses[:, :1] & ~np.int64(unit - 1))
        same = len(relative) == 1 or (relative == relative[0]).all()
        if not same or (active is not None and not (active == active[0]).all()):
            return function(relative, active, size)
        key = (unit, size, relative[0].tobytes(), b"" if active is None else active[0].tobytes())
        answer = self.remembered.get(key)
        if answer is None:
            if len(self.remembered) >= REMEMBERED:
                self.remembered.clear()
            answer = function(relative[:1], None if active is None else active[:1], size)
            self.remembered[key] = answer
        return answer[0] * len(relative), answer[1] * len(relative)


def _fill(addresses, active):
    """Idle lanes repeat an active lane's address, which adds nothing; warps without active lanes drop out."""
    some = active.any(1)
    addresses, active = addresses[some], active[some]
    first = addresses[np.arange(len(addresses)), active.argmax(1)]
    return np.where(active, addresses, first[:, None]), active


def _wavefronts(relative, active, size: int) -> tuple[int, int]:
    lanes = 32 * BANK_BYTES // max(size, BANK_BYTES)
    words = relative[:, :, None] // BANK_BYTES + np.arange(max(size // BANK_BYTES, 1))
    words = words.reshape(-1, lanes * words.shape[2])
    busy = np.ones(len(words), bool) if active is None else active.reshape(-1, lanes).any(1)
    if active is not None:
        words = _idle_repeat_phase(words, active.reshape(-1, lanes))
    words = np.sort(words[busy], axis=1)
    new = np.ones(words.shape, bool)
    new[:, 1:] = words[:, 1:] != words[:, :-1]
    row, column = np.nonzero(new)
    load = np.bincount(row * BANKS + words[row, column] % BANKS, minlength=len(words) * BANKS)
    return int(load.reshape(-1, BANKS).max(1).sum()), len(words)


def _idle_repeat_phase(words, active):
    """Idle lanes repeat a word of their own phase rather than one of another."""
    per_lane = words.shape[1] // active.shape[1]
    words = words.reshape(len(words), -1, per_lane)
    first = words[np.arange(len(words)), active.argmax(1)]
    return np.where(active[:, :, None], words, first[:, None, :]).reshape(len(words), -1)


def _sectors(relative, active, size: int) -> tuple[int, int]:
    distinct = _distinct(relative)
    return _distinct(relative // SECTOR_BYTES), distinct * size


def _distinct(values) -> int:
    values = np.sort(values, axis=1)
    return len(values) + int(np.count_nonzero(values[:, 1:] != values[:, :-1]))
