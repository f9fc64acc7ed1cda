"""Conversions between f32 and f16, and to whole numbers. PTX ISA, "Data Movement and Conversion Instructions: cvt".

Halves travel as bits: two in a uint32 (the lower one first in memory), one in a uint16.
"""

from numba.cuda import types

from playground.ptx._instruction import instruction
from playground.ptx.device_function import device_function

float32, uint16, uint32 = types.float32, types.uint16, types.uint32


@instruction("cvt.rn.f16x2.f32 {result}, {high}, {low};", touches_memory=False)
def pack_f16x2(low: float32, high: float32) -> uint32:
    """Both values rounded to nearest even, `low` in the lower half. PTX ISA: cvt (sm_80 and later)."""


@instruction("cvt.rn.f16.f32 {result}, {value};", touches_memory=False)
def to_f16(value: float32) -> uint16:
    """The value rounded to nearest even. PTX ISA: cvt."""


@instruction("cvt.f32.f16 {result}, {half};", touches_memory=False)
def from_f16(half: uint16) -> float32:
    """Exact. PTX ISA: cvt."""


@instruction("cvt.rni.f32.f32 {result}, {value};", touches_memory=False)
def round_to_whole(value: float32) -> float32:
    """The nearest whole number, ties to even, as f32. PTX ISA: cvt."""


@device_function
def pack_f16_pair(low, high):
    """The same as `pack_f16x2`, by two conversions: for architectures before sm_80."""
    return uint32(to_f16(low)) | uint32(to_f16(high)) << uint32(16)
