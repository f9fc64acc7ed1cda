"""Clocks: the special registers' names, and that work between two reads stays between them."""

import re

import numpy as np
from numba.cuda.types import int64

from playground.emulator import emulate
from playground.ptx.clock import cycles, multiprocessor, nanoseconds
from playground.ptx.memory import load_global_f32, store_global_f32, store_global_s64


def test_each_reads_its_special_register(ptx_of):
    def kernel(destination):
        store_global_s64(destination, cycles())
        store_global_s64(destination + 8, nanoseconds())
        store_global_s64(destination + 16, multiprocessor())

    ptx = ptx_of(kernel, int64)
    for register in ("clock64", "globaltimer"):
        assert re.search(rf"mov\.u64 %rd\d+, %{register};", ptx)
    assert "%smid" in ptx


def test_a_clock_read_twice_is_two_reads_with_the_work_between(ptx_of):
    def kernel(source, destination):
        before = cycles()
        store_global_f32(destination, load_global_f32(source))
        store_global_s64(destination + 8, cycles() - before)

    order = re.findall(r"%clock64|ld\.global|st\.global\.f32|st\.global\.s64", ptx_of(kernel, int64, int64))
    assert order == ["%clock64", "ld.global", "st.global.f32", "%clock64", "st.global.s64"]


def test_time_passes_in_the_emulator_with_every_turn_of_a_loop():
    def kernel(taken, turns):
        taken[0] = cycles()
        for _ in range(turns):
            taken[3] = nanoseconds()
        taken[1] = cycles()
        taken[2] = multiprocessor()

    taken = np.full(4, -1)
    assert emulate(kernel, 1, 1, taken, 10).clean
    assert taken[1] - taken[0] >= 10
    assert taken[2] == 0
