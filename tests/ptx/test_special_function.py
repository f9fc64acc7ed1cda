"""The special function unit's approximations, and vectors in global memory, as PTX."""

import re

from numba import cuda
from numba.cuda.types import float32, int64, uint32

from playground.ptx.convert import round_to_whole
from playground.ptx.memory import (
    load_global_f32,
    load_global_v4_f32,
    store_global_f32,
    store_global_u16,
    store_global_v2,
    store_global_v4,
    store_global_v4_f32,
)
from playground.ptx.special_function import cosine, reciprocal, reciprocal_root, sine


def test_each_approximation_is_one_instruction(ptx_of):
    def kernel(source, destination):
        x = load_global_f32(source)
        store_global_f32(destination, reciprocal(x) + reciprocal_root(x) + sine(x) + cosine(x) + round_to_whole(x))

    ptx = ptx_of(kernel, int64, int64)
    for opcode in ("rcp", "rsqrt", "sin", "cos"):
        assert len(re.findall(rf"\b{opcode}\.approx\.ftz\.f32 %f\d+, %f\d+;", ptx)) == 1
    assert len(re.findall(r"cvt\.rni\.f32\.f32 %f\d+, %f\d+;", ptx)) == 1
    assert "call" not in ptx


def test_vectors_are_one_access_with_one_register_per_element(ptx_of):
    def kernel(source, destination):
        values = cuda.local.array(4, float32)
        words = cuda.local.array(4, uint32)
        pair = cuda.local.array(2, uint32)
        load_global_v4_f32(values, source)
        store_global_v4_f32(destination, values)
        for i in range(4):
            words[i] = uint32(values[i])
            pair[i & 1] = words[i]
        store_global_v4(destination + 16, words)
        store_global_v2(destination + 32, pair)
        store_global_u16(destination + 40, pair[0])

    ptx = ptx_of(kernel, int64, int64)
    four, words = (", ".join([rf"%{kind}\d+"] * 4) for kind in "fr")
    assert re.search(rf"ld\.global\.v4\.f32 \{{{four}\}}, \[%rd\d+\];", ptx)
    assert re.search(rf"st\.global\.v4\.f32 \[%rd\d+\], \{{{four}\}};", ptx)
    assert re.search(rf"st\.global\.v4\.u32 \[%rd\d+\], \{{{words}\}};", ptx)
    assert re.search(r"st\.global\.v2\.u32 \[%rd\d+\], \{%r\d+, %r\d+\};", ptx)
    assert re.search(r"st\.global\.u16 \[%rd\d+\], %rs\d+;", ptx)
    assert ".local" not in ptx
