"""Arithmetic of one instruction: the statements of the PTX ISA (§ fma, § shf), none of them merged or folded."""

import re

import numpy as np
from numba import cuda
from numba.cuda.types import float32, int64, uint32

from playground.emulator import emulate
from playground.ptx.arithmetic import fma, rotate_left
from playground.ptx.memory import store_global_f32, store_global_u32


def test_every_call_is_an_instruction_even_of_constants(ptx_of):
    def kernel(destination, value, word):
        store_global_f32(destination, fma(fma(value, float32(0.5), float32(1)), float32(0.5), float32(1)))
        store_global_u32(destination + 4, rotate_left(rotate_left(word)))

    ptx = ptx_of(kernel, int64, float32, uint32)
    assert len(re.findall(r"fma\.rn\.f32 ", ptx)) == 2
    assert len(re.findall(r"shf\.l\.wrap\.b32 %r\d+, (%r\d+), \1, 1;", ptx)) == 2


def test_values():
    def kernel(values, words):
        values[cuda.threadIdx.x] = fma(values[cuda.threadIdx.x], values[cuda.threadIdx.x], float32(-1))
        words[cuda.threadIdx.x] = rotate_left(words[cuda.threadIdx.x])

    values, words = np.array([1 + 3 * 2.0**-23, 3], np.float32), np.array([0x80000001, 0x12345678], np.uint32)
    emulate(kernel, 1, 2, values, words)
    assert values.tolist() == [6 * 2.0**-23 + 2.0**-43, 8]  # rounded after the product it would be 6 · 2^-23
    assert words.tolist() == [0x00000003, 0x2468ACF0]
