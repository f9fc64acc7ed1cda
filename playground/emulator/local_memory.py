"""Local memory: each lane's own bytes, addressed from 0. Source: PTX ISA, "Local State Space"."""

import numpy as np

from playground.emulator import hazards
from playground.emulator.spaces import drop, zeroed_words


class LocalMemory:
    """`size` bytes for each of a chunk's lanes."""

    def __init__(self, size: int, lanes: int):
        self.size = size
        self.stride = -(-size // 16) * 16
        self.words = zeroed_words(lanes * self.stride)

    def locate(self, group, instruction: int, lanes, address, size: int):
        """(lanes, byte offsets) of the accesses that are inside and aligned; the others are reported and dropped."""
        address = address.astype(np.int64)
        for kind, bad in (
            (hazards.LOCAL_BOUNDS, (address < 0) | (address > self.size - size)),
            (hazards.LOCAL_ALIGNMENT, address & (size - 1) != 0),
        ):
            if bad.any():
                detail = f"{size} bytes at {int(address[bad][0]):,} of {self.size:,}"
                lanes, address = drop(group, kind, instruction, lanes, address, bad, detail)
                break
        return lanes, address + group.chunk_lanes[lanes] * self.stride
