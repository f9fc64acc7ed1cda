"""Special registers: where a lane is in its warp, block and grid. Source: PTX ISA, "Special Registers"."""

import numpy as np

AXES = ("x", "y", "z")
_ALL_ONES = np.uint64(0xFFFFFFFF)


class Special(dict):
    """name -> uint32 (lanes,) or scalar, worked out when first read. Clocks move, so they are not kept."""

    def __init__(self, group):
        super().__init__()
        self.group = group

    def __missing__(self, name: str):
        value = NAMES[name](self.group)
        if not name.startswith(("clock", "globaltimer")):
            self[name] = value
        return value


def _axis(extent_of, number_of, axis: int):
    """Coordinate `axis` of a linear number in an extent (x, y, z)."""

    def coordinate(group):
        x, y, _ = extent_of(group)
        number = number_of(group)
        return (number // (1, x, x * y)[axis] % (x, y, 1 << 31)[axis]).astype(np.uint32)

    return coordinate


def _thread(group):
    return group.chunk_lanes % group.chunk.lanes_per_block


def _block(group):
    return group.blocks if len(group.chunk.blocks) > 1 else group.chunk.blocks[0]


def _lane(group):
    return (group.chunk_lanes & 31).astype(np.uint32)


def _mask(function):
    return lambda group: function(_lane(group).astype(np.uint64)).astype(np.uint32)


def _clock(group):
    return np.repeat(group.clock, 32).astype(np.uint64)


def _constant(function):
    return lambda group: np.uint32(function(group))


ONE = np.uint64(1)
NAMES = {
    "laneid": _lane,
    "warpid": lambda group: group.warp_in_block.astype(np.uint32),
    "nwarpid": _constant(lambda group: group.chunk.lanes_per_block // 32),
    "smid": _constant(lambda group: 0),
    "nsmid": _constant(lambda group: 1),
    "lanemask_eq": _mask(lambda lane: ONE << lane),
    "lanemask_lt": _mask(lambda lane: (ONE << lane) - ONE),
    "lanemask_le": _mask(lambda lane: (ONE << lane + ONE) - ONE),
    "lanemask_gt": _mask(lambda lane: _ALL_ONES & ~((ONE << lane + ONE) - ONE)),
    "lanemask_ge": _mask(lambda lane: _ALL_ONES & ~((ONE << lane) - ONE)),
    "dynamic_smem_size": _constant(lambda group: group.launch.dynamic_shared),
    "total_smem_size": _constant(lambda group: group.launch.shared_bytes),
    "clock": lambda group: _clock(group).astype(np.uint32),
    "clock_hi": lambda group: (_clock(group) >> np.uint64(32)).astype(np.uint32),
    "clock64": _clock,
    "globaltimer": _clock,
}
for _number, _name in enumerate(AXES):
    NAMES |= {
        f"tid.{_name}": _axis(lambda group: group.launch.block, _thread, _number),
        f"ctaid.{_name}": _axis(lambda group: group.launch.grid, _block, _number),
        f"ntid.{_name}": _constant(lambda group, axis=_number: group.launch.block[axis]),
        f"nctaid.{_name}": _constant(lambda group, axis=_number: group.launch.grid[axis]),
    }
