"""Shuffles: the statement of the PTX ISA (§ "shfl.sync"), and whose value arrives."""

import re

import numpy as np
import pytest
from numba import cuda
from numba.cuda.types import int64

from playground.emulator import emulate
from playground.ptx.memory import load_global_f32, store_global_f32
from playground.ptx.shuffle import butterfly


def test_a_butterfly_is_one_shuffle_of_the_whole_warp(ptx_of):
    def kernel(source, destination):
        store_global_f32(destination, butterfly(load_global_f32(source), 2))

    ptx = ptx_of(kernel, int64, int64)
    assert re.search(r"shfl\.sync\.bfly\.b32 %[rf]\d+, %[rf]\d+, %r\d+, 31, 0xffffffff;", ptx), ptx
    assert ptx.count("shfl") == 1


@pytest.mark.parametrize("mask", [1, 2, 4, 8, 16, 3, 31])
def test_the_value_comes_from_the_lane_whose_number_differs_in_the_mask(mask):
    def kernel(values, found):
        lane = cuda.threadIdx.x
        found[lane] = butterfly(values[lane], mask)

    values, found = np.random.default_rng(mask).standard_normal(32).astype(np.float32), np.empty(32, np.float32)
    assert emulate(kernel, 1, 32, values, found).clean
    assert np.array_equal(found, values[np.arange(32) ^ mask])


def test_two_butterflies_give_four_lanes_the_sum_of_all_four():
    def kernel(values, found):
        lane = cuda.threadIdx.x
        total = values[lane]
        total += butterfly(total, 1)
        total += butterfly(total, 2)
        found[lane] = total

    values, found = np.arange(32, dtype=np.float32), np.empty(32, np.float32)
    assert emulate(kernel, 1, 32, values, found).clean
    assert np.array_equal(found, np.repeat(values.reshape(8, 4).sum(axis=1), 4))
