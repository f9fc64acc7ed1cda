"""Global memory: arrays at distinct addresses with unmapped gaps between them."""

from bisect import bisect_right

import numpy as np

from playground.emulator import hazards
from playground.emulator.errors import BadLaunch
from playground.emulator.spaces import drop, zeroed_words

BASE = 0x7000_0000_0000
ALIGNMENT = 256
GAP = 1 << 20


class GlobalMemory:
    """Arrays as a device would hold them: copied in by `place`, changed by launches, copied out by `read`."""

    def __init__(self):
        self.arrays: dict[int, np.ndarray] = {}
        self.end = BASE + GAP

    def place(self, array: np.ndarray) -> int:
        """Copy a C-contiguous array of any dtype and shape in; its 64-bit address, a multiple of 256."""
        if not isinstance(array, np.ndarray):
            raise BadLaunch(f"global memory holds NumPy arrays, not {type(array).__name__}")
        if array.dtype.kind not in "biufcV" or array.dtype.hasobject or not array.dtype.isnative:
            raise BadLaunch(f"global memory holds numbers: the array has dtype {array.dtype}")
        if not array.flags.c_contiguous:
            raise BadLaunch(f"the array of shape {array.shape} has strides {array.strides}: it must be C-contiguous")
        address = self.end
        self.arrays[address] = array.copy()
        self.end = -(-(address + array.nbytes + GAP) // ALIGNMENT) * ALIGNMENT
        return address

    def read(self, address: int) -> np.ndarray:
        """The array that was placed at `address`, as launches have left it."""
        return self.arrays[address]


class Mapped:
    """One array while a kernel runs: where it lies, and which blocks have touched which cells of it."""

    def __init__(self, start: int, bytes: int, cell: int):
        self.start = start
        self.bytes = bytes
        self.cells = -(-bytes // cell)
        self.touched: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self.accessors: np.ndarray | None = None
        self.bytes_read = 0

    def note(self, how: str, cells, blocks, bit):
        """Keep the lowest and the highest block that touched a cell, and by which instructions."""
        if how not in self.touched:
            none = np.iinfo(np.int32).max
            self.touched[how] = np.full(self.cells, none, np.int32), np.full(self.cells, -1, np.int32)
        if self.accessors is None:
            self.accessors = np.zeros(self.cells, np.uint64)
        low, high = self.touched[how]
        # Blocks rise with the lanes, and of equal indices NumPy keeps the last one assigned.
        high[cells] = np.maximum(high[cells], blocks)
        low[cells[::-1]] = np.minimum(low[cells], blocks)[::-1]
        self.accessors[cells] |= bit


class Arena:
    """A launch's view of global memory: one block of bytes, addressed from BASE.

    constants: (name, bytes) of the module's own variables. cell: bytes that races are seen in. instructions: those that
    may touch global memory; each has a bit of 64 in the record of who touched a cell, and beyond 64 they share.
    """

    def __init__(
        self,
        memory: GlobalMemory,
        constants: list[tuple[str, bytes]],
        cell: int,
        instructions: list[int],
        checked: bool,
    ):
        self.memory = memory
        self.checked = checked
        self.cell = cell
        extra = GlobalMemory()
        extra.end = memory.end
        self.symbols = {name: extra.place(np.frombuffer(data or b"\0", np.uint8)) for name, data in constants}
        arrays = memory.arrays | extra.arrays
        size = -(-(extra.end - BASE) // 16) * 16
        self.words = zeroed_words(size)
        for address, array in arrays.items():
            self.words[1][address - BASE :][: array.nbytes] = array.reshape(-1).view(np.uint8)
        self.regions = [Mapped(address - BASE, array.nbytes, cell) for address, array in arrays.items()]
        self.starts = [region.start for region in self.regions]
        self.edges = np.array(self.starts)
        self.ends = np.array([region.start + region.bytes for region in self.regions])
        self.bits = {instruction: number % 64 for number, instruction in enumerate(instructions)}

    def copy_out(self):
        for address, array in self.memory.arrays.items():
            array.reshape(-1).view(np.uint8)[:] = self.words[1][address - BASE :][: array.nbytes]

    def bytes_read(self) -> list[int]:
        """Of each array that was placed."""
        return [region.bytes_read for region in self.regions[: len(self.memory.arrays)]]

    def locate(self, group, instruction: int, lanes, address, size: int, extent: int = 0):
        """(lanes, byte offsets) of the accesses that are inside and aligned; the others are reported and dropped.

        extent: how many of the `size` bytes are really touched, if not all.
        """
        extent = extent or size
        offsets = (address.astype(np.uint64) - np.uint64(BASE)).view(np.int64)
        if len(offsets) and not self._inside_one(int(offsets.min()), int(offsets.max()) + extent):
            region = np.searchsorted(self.edges, offsets, "right") - 1
            outside = (region < 0) | (offsets + extent > self.ends[region])
            if outside.any():
                detail = self._nearest(int(offsets[outside][0]), extent)
                lanes, offsets = drop(group, hazards.GLOBAL_BOUNDS, instruction, lanes, offsets, outside, detail)
        uneven = offsets & (size - 1) != 0
        if uneven.any():
            detail = f"{size} bytes at an address that is {int(offsets[uneven][0]) % size} beyond a multiple of {size}"
            lanes, offsets = drop(group, hazards.GLOBAL_ALIGNMENT, instruction, lanes, offsets, uneven, detail)
        return lanes, offsets

    def _inside_one(self, low: int, high: int) -> bool:
        index = bisect_right(self.starts, low) - 1
        return index >= 0 and high <= self.ends[index]

    def _nearest(self, offset: int, size: int) -> str:
        index = max(bisect_right(self.starts, offset) - 1, 0)
        region = self.regions[index]
        return f"{size} bytes at byte {offset - region.start:,} of array {index}, which has {region.bytes:,}"

    def note(self, group, how: str, instruction: int, lanes, offsets, size: int):
        """Count what is read of each array; remember which blocks read, wrote or changed atomically what, for races."""
        if how == "read" and len(offsets):
            for index, chosen in self._by_region(offsets):
                self.regions[index].bytes_read += size * len(offsets[chosen])
        if not self.checked:
            return
        fenced = group.chunk.fenced[group.slots[lanes]]
        if how == "read" and fenced.any():
            lanes, offsets = group.positions[lanes][~fenced], offsets[~fenced]
        if not len(offsets):
            return
        bit = np.uint64(1) << np.uint64(self.bits[instruction])
        blocks = group.blocks[lanes]
        for index, chosen in self._by_region(offsets):
            region = self.regions[index]
            cells = ((offsets[chosen] - region.start)[:, None] + np.arange(0, size, self.cell)) // self.cell
            region.note(how, cells.ravel(), np.repeat(blocks[chosen], cells.shape[1]), bit)

    def _by_region(self, offsets):
        """[(region, which offsets are in it)]; nearly always there is one."""
        first, last = (bisect_right(self.starts, int(edge)) - 1 for edge in (offsets.min(), offsets.max()))
        if first == last:
            return [(first, slice(None))]
        region = np.searchsorted(self.edges, offsets, "right") - 1
        return [(index, region == index) for index in np.unique(region)]

    def report_races(self, log):
        """After the launch: cells that one block wrote and another wrote or read, unless both did so atomically."""
        for region in self.regions:
            writes, reads, atomics = (region.touched.get(how) for how in ("write", "read", "atomic"))
            if writes is not None:
                low, high = writes
                self._report(log, hazards.GLOBAL_WRITES, region, (high >= 0) & (low != high), low)
            for writer in (writes, atomics):
                if writer is None:
                    continue
                for other in (reads, writes if writer is atomics else None):
                    if other is not None:
                        both = (writer[1] >= 0) & (other[1] >= 0)
                        apart = (np.minimum(writer[0], other[0]) != np.maximum(writer[1], other[1])) & both
                        kind = hazards.GLOBAL_READ if other is reads else hazards.GLOBAL_WRITES
                        self._report(log, kind, region, apart, np.minimum(writer[0], other[0]))

    def _report(self, log, kind: str, region: Mapped, cells, blocks):
        found = np.flatnonzero(cells)
        if not len(found):
            return
        detail = f"{len(found)} cells of array {self.regions.index(region)}, first at byte {found[0] * self.cell:,}"
        for instruction, bit in self.bits.items():
            own = found[(region.accessors[found] >> np.uint64(bit)) & np.uint64(1) == 1]
            if len(own):
                log.report(kind, instruction, blocks[own], detail=detail)
