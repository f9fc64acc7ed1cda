"""Arithmetic of one instruction that the compiler neither folds with its neighbour nor computes beforehand.

PTX ISA, "Floating Point Instructions: fma" and "Logic and Shift Instructions: shf".
"""

from numba.cuda import types

from playground.ptx._instruction import instruction

float32, uint32 = types.float32, types.uint32


@instruction("fma.rn.f32 {result}, {factor}, {other}, {summand};", touches_memory=False)
def fma(factor: float32, other: float32, summand: float32) -> float32:
    """factor · other + summand, rounded once, to nearest even. PTX ISA: fma."""


@instruction("shf.l.wrap.b32 {result}, {word}, {word}, 1;", touches_memory=False)
def rotate_left(word: uint32) -> uint32:
    """The word's bits one place to the left, the highest becoming the lowest. PTX ISA: shf."""
