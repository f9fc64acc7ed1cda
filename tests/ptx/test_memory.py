"""Addresses of shared memory, and plain loads and stores by address."""

import re

from numba import cuda
from numba.cuda.types import float32, int32, int64, uint8

from playground.ptx.memory import load_global_f32, load_shared_f32, shared_address, store_global_f32


def test_loads_and_stores_name_their_state_space(ptx_of):
    def kernel(shared, source, destination):
        store_global_f32(destination, load_shared_f32(shared) + load_global_f32(source))

    ptx = ptx_of(kernel, int32, int64, int64)
    assert re.search(r"ld\.shared\.f32 %f\d+, \[%r\d+\];", ptx)
    assert re.search(r"ld\.global\.f32 %f\d+, \[%rd\d+\];", ptx)
    assert re.search(r"st\.global\.f32 \[%rd\d+\], %f\d+;", ptx)


def test_a_shared_address_is_the_offset_of_the_dynamic_window_in_32_bits(ptx_of):
    def kernel(destination):
        store_global_f32(destination, load_shared_f32(shared_address(cuda.shared.array(0, uint8))))

    ptx = ptx_of(kernel, int64)
    window = re.search(r"\.extern \.shared \.align \d+ \.b8 (\w+)\[\];", ptx).group(1)
    wide = re.search(rf"mov\.u(?:32|64)\s+(%rd?\d+), {window};", ptx).group(1)
    narrowed = re.search(rf"cvt\.u32\.u64\s+(%r\d+), {wide};", ptx)
    address = narrowed.group(1) if narrowed else wide
    assert f"[{address}];" in re.search(r"ld\.shared\.f32.*", ptx).group()


def test_a_repeated_store_is_not_dropped(ptx_of):
    def kernel(destination):
        store_global_f32(destination, float32(1))
        store_global_f32(destination, float32(1))

    assert len(re.findall(r"st\.global\.f32", ptx_of(kernel, int64))) == 2
