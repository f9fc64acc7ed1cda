"""Conversions: the statements of the PTX ISA (§ "cvt"), and the values that NumPy gives."""

import re

import numpy as np
import pytest
from numba import cuda
from numba.cuda.types import float32, int64, uint16

from playground.emulator import emulate
from playground.ptx.convert import from_f16, pack_f16_pair, pack_f16x2, to_f16
from playground.ptx.memory import load_shared_u16, store_global_f32, store_global_u32

TIES = (1 + 2.0**-11, 1 + 3 * 2.0**-11, 2.0**-25, 3 * 2.0**-25, 65519.996, 65520.0)
"""Halfway between two halves, normal and subnormal, and on both sides of where they overflow."""
EDGES = (0.0, -0.0, 2.0**-24, 2.0**-14, 65504.0, 1e5, np.inf, -np.inf, np.nan)


def values():
    random = np.random.default_rng(0).standard_normal(64 - len(TIES) - len(EDGES)) * 100
    return np.array([*TIES, *EDGES, *random], np.float32)


def halves(floats):
    with np.errstate(over="ignore"):
        return floats.astype(np.float16)


def same(found, wanted):
    """Equal bits, and NaN wherever NaN is wanted."""
    undefined = np.isnan(wanted)
    return np.array_equal(np.isnan(found), undefined) and np.array_equal(
        found.view(np.uint16)[~undefined], wanted.view(np.uint16)[~undefined]
    )


def test_packing_rounds_two_values_with_the_first_in_the_lower_half(ptx_of):
    def kernel(destination, low, high):
        store_global_u32(destination, pack_f16x2(low, high))

    ptx = ptx_of(kernel, int64, float32, float32)
    low, high = (re.search(rf"ld\.param\.f32\s+(%f\d+), \[\w+_param_{place}\];", ptx).group(1) for place in (1, 2))
    assert re.search(rf"cvt\.rn\.f16x2\.f32 %r\d+, {high}, {low};", ptx), ptx


def test_before_sm_80_a_pair_is_packed_by_two_conversions(ptx_of):
    def kernel(destination, low, high):
        store_global_u32(destination, pack_f16_pair(low, high))

    ptx = ptx_of(kernel, int64, float32, float32)
    assert len(re.findall(r"cvt\.rn\.f16\.f32 %rs\d+, %f\d+;", ptx)) == 2
    assert "f16x2" not in ptx


def test_a_half_is_widened_by_one_conversion(ptx_of):
    def kernel(shared, destination):
        store_global_f32(destination, from_f16(load_shared_u16(shared)))

    ptx = ptx_of(kernel, int64, int64)
    assert re.search(r"cvt\.f32\.f16 %f\d+, %rs\d+;", ptx), ptx


def test_to_f16_rounds_as_numpy_does():
    def kernel(given, found):
        found[cuda.threadIdx.x] = to_f16(given[cuda.threadIdx.x])

    given, found = values(), np.empty(64, np.uint16)
    assert emulate(kernel, 1, 64, given, found).clean
    assert same(found.view(np.float16), halves(given))


def test_from_f16_is_exact_for_every_half():
    def kernel(given, found):
        i = cuda.grid(1)
        found[i] = from_f16(uint16(given[i]))

    given, found = np.arange(2**16, dtype=np.uint16), np.empty(2**16, np.float32)
    assert emulate(kernel, 256, 256, given, found).clean
    wanted = given.view(np.float16).astype(np.float32)
    assert np.array_equal(found, wanted, equal_nan=True)


@pytest.mark.parametrize("pack", [pack_f16x2, pack_f16_pair], ids=["at once", "by two conversions"])
def test_a_packed_pair_is_the_two_halves_one_behind_the_other(pack):
    def kernel(low, high, found):
        i = cuda.threadIdx.x
        found[i] = pack(low[i], high[i])

    low, found = values(), np.empty(64, np.uint32)
    high = low[::-1].copy()
    assert emulate(kernel, 1, 64, low, high, found).clean
    pairs = found.view(np.float16).reshape(64, 2)
    assert same(pairs[:, 0].copy(), halves(low))
    assert same(pairs[:, 1].copy(), halves(high))
