"""The shared memory of a kernel: the one place where offsets and bytes come from.

The kernel takes its offsets and strides from the same regions whose total the launcher requests, so the two cannot
disagree (seed 001, §3.3: a launcher formula that did not follow the geometry).
"""

import math
from dataclasses import dataclass, replace

ALIGNMENT = 128


@dataclass(frozen=True)
class Region:
    """A row-major array of `shape` with `itemsize` bytes per element, `offset` bytes into the shared window.

    reuses: the name of the region at whose offset this one starts, in turn and not at once.
    """

    name: str
    shape: tuple[int, ...]
    itemsize: int
    reuses: str | None = None
    offset: int = 0

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one index to the next, per axis."""
        return tuple(math.prod(self.shape[axis + 1 :]) * self.itemsize for axis in range(len(self.shape)))

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * self.itemsize


class SharedLayout:
    """Regions one after another, each aligned to 128 bytes: `layout["A"].offset`, `layout.bytes`.

    A region that reuses the place of others adds only what reaches beyond them (seed 001, §5: a write-back region that
    the launcher forgot to count).
    """

    def __init__(self, *regions: Region):
        self.regions, self.bytes = {}, 0
        for region in regions:
            offset = self.regions[region.reuses].offset if region.reuses else self.bytes
            self.regions[region.name] = replace(region, offset=offset)
            self.bytes = max(self.bytes, offset + -(-region.bytes // ALIGNMENT) * ALIGNMENT)

    def __getitem__(self, name: str) -> Region:
        return self.regions[name]
