"""The special function unit's other approximations. PTX ISA, "Floating Point Instructions: rcp, rsqrt, sin, cos".

The exponential has a file of its own. Results that are subnormal are flushed to zero.
"""

from numba.cuda import types

from playground.ptx._instruction import instruction

float32 = types.float32


@instruction("rcp.approx.ftz.f32 {result}, {value};", touches_memory=False)
def reciprocal(value: float32) -> float32:
    """1 / value, within 1 unit in the last place; of infinity 0. PTX ISA: rcp.approx.ftz."""


@instruction("rsqrt.approx.ftz.f32 {result}, {value};", touches_memory=False)
def reciprocal_root(value: float32) -> float32:
    """1 / √value, within a relative error of 2^-22.9. PTX ISA: rsqrt.approx.ftz."""


@instruction("sin.approx.ftz.f32 {result}, {radians};", touches_memory=False)
def sine(radians: float32) -> float32:
    """Within 2^-20.5 absolutely, for -π to π. PTX ISA: sin.approx.ftz."""


@instruction("cos.approx.ftz.f32 {result}, {radians};", touches_memory=False)
def cosine(radians: float32) -> float32:
    """Within 2^-20.5 absolutely, for -π to π. PTX ISA: cos.approx.ftz."""
