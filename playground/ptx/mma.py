"""mma m16n8k16: f16 operands, f32 accumulation, in fragments whose layout is public.

PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type". Each lane holds A (16×16, row-major) as 4 × .b32
and B (16×8, column-major) as 2 × .b32, pairs of halves, and the accumulator (16×8) as 4 × .f32. The whole warp executes
it together. sm_80 and later.
"""

from numba.cuda import types

from playground.ptx._instruction import Fragment, instruction

float32, uint32 = types.float32, types.uint32

A_REGISTERS, B_REGISTERS, ACCUMULATORS = 4, 2, 4


@instruction(
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {accumulator}, {a}, {b}, {accumulator};", touches_memory=False
)
def mma_16x8x16(
    accumulator: Fragment(float32, ACCUMULATORS, read=True, written=True),
    a: Fragment(uint32, A_REGISTERS, read=True),
    b: Fragment(uint32, B_REGISTERS, read=True),
):
    """accumulator += a · b. PTX ISA: mma."""
