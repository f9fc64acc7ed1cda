"""Unsigned 32-bit division: one instruction of 32 bits, no call."""

import re

import pytest
from numba.cuda.types import int32, int64

from playground.ptx.cp_async import copy_16
from playground.ptx.integer import udiv, urem


def divisions(ptx):
    return re.findall(r"\b(?:div|rem)\.[us]\d+", ptx)


@pytest.mark.parametrize("divide", [udiv, urem])
def test_division_by_a_run_time_value_is_one_32_bit_instruction(ptx_of, divide):
    def kernel(destination, source, dividend, divisor):
        copy_16(destination + divide(dividend, divisor), source, 16)

    ptx = ptx_of(kernel, int32, int64, int32, int32)
    assert divisions(ptx) in (["div.u32"], ["rem.u32"])  # NVVM may spell a remainder as dividend - quotient · divisor
    assert "call" not in ptx


def test_pythons_own_division_is_64_bit_and_so_worth_avoiding(ptx_of):
    def kernel(destination, source, dividend, divisor):
        copy_16(destination + dividend // divisor, source, 16)

    assert "div.s64" in divisions(ptx_of(kernel, int32, int64, int32, int32))


@pytest.mark.parametrize(
    ("divide", "instruction"), [(udiv, r"shr\.u32\s+%r\d+, %r\d+, 3;"), (urem, r"and\.b32\s+%r\d+, %r\d+, 7;")]
)
def test_division_by_a_power_of_two_is_a_shift_or_a_mask(ptx_of, divide, instruction):
    def kernel(destination, source, dividend):
        copy_16(divide(dividend, 8), source, 16)

    ptx = ptx_of(kernel, int32, int64, int32)
    assert re.search(instruction, ptx), ptx
    assert divisions(ptx) == []
    assert not re.search(r"shr\.s32|add\.s32", ptx)  # what a signed division needs beside it
