"""The special function unit's exponential. PTX ISA, "Floating Point Instructions: ex2"."""

from numba.cuda import types

from playground.ptx._instruction import instruction

float32 = types.float32


@instruction("ex2.approx.ftz.f32 {result}, {exponent};", touches_memory=False)
def exp2(exponent: float32) -> float32:
    """2 to the power of `exponent`, within 2 units in the last place; exp2(-inf) = 0. PTX ISA: ex2.approx."""
