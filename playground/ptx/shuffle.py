"""Exchange of registers between the lanes of a warp. PTX ISA, "Data Movement and Conversion: shfl.sync"."""

from numba.cuda import types

from playground.ptx._instruction import instruction

float32, uint32 = types.float32, types.uint32


@instruction("shfl.sync.bfly.b32 {result}, {value}, {mask}, 31, 0xffffffff;")
def butterfly(value: float32, mask: uint32) -> float32:
    """The value of the lane whose number differs by `mask` in the bits set there; all 32 lanes take part."""
