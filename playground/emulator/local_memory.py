"""Local memory: each lane's own bytes, addressed from 0. Source: PTX ISA, "Local State Space"."""

import numpy as np

from playground.emulator import hazards
from playground.emulator.shared_memory import WORDS


class LocalMemory:
    """`size` bytes for each of a chunk's lanes."""

    def __init__(self, size: int, lanes: int):
        self.size = size
        self.stride = -(-size // 16) * 16
        storage = np.zeros(lanes * self.stride // 16, np.complex128)
        self.words = {width: storage.view(dtype) for width, dtype in WORDS.items()}

    def locate(self, group, instruction: int, lanes, address, size: int):
        """(lanes, byte offsets) of the accesses that are inside and aligned; the others are reported and dropped."""
        address = address.astype(np.int64)
        for kind, bad in (
            (hazards.LOCAL_BOUNDS, (address < 0) | (address > self.size - size)),
            (hazards.LOCAL_ALIGNMENT, address & (size - 1) != 0),
        ):
            if bad.any():
                kept = group.positions[lanes]
                group.report(kind, instruction, kept[bad], f"{size} bytes at {int(address[bad][0]):,} of {self.size:,}")
                lanes, address = kept[~bad], address[~bad]
                break
        return lanes, address + group.chunk_lanes[lanes] * self.stride
