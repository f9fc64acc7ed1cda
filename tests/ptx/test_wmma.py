"""The wmma intrinsics: the statements of the PTX ISA (§ wmma.load, wmma.mma, wmma.store), and registers in place."""

import re

import pytest
from numba import cuda
from numba.core.errors import TypingError
from numba.cuda.types import float32, int32, int64, uint32

from playground.ptx import wmma

REGISTERS_B32 = r"\{((?:%r\d+, ){7}%r\d+)\}"
REGISTERS_F32 = r"\{((?:%f\d+, ){7}%f\d+)\}"

LOADS = {
    "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16": wmma.load_a_row,
    "wmma.load.a.sync.aligned.col.m16n16k16.shared.f16": wmma.load_a_col,
    "wmma.load.b.sync.aligned.row.m16n16k16.shared.f16": wmma.load_b_row,
    "wmma.load.b.sync.aligned.col.m16n16k16.shared.f16": wmma.load_b_col,
}

PRODUCTS = {
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32": wmma.mma_row_col,
    "wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32": wmma.mma_row_row,
    "wmma.mma.sync.aligned.col.col.m16n16k16.f32.f32": wmma.mma_col_col,
    "wmma.mma.sync.aligned.col.row.m16n16k16.f32.f32": wmma.mma_col_row,
}


@pytest.mark.parametrize("statement", LOADS)
def test_a_load_names_its_operand_and_layout_and_fills_eight_registers(ptx_of, statement):
    load = LOADS[statement]

    def kernel(address, stride):
        fragment = cuda.local.array(8, uint32)
        load(fragment, address, stride)

    ptx = ptx_of(kernel, int32, int32)
    found = re.search(rf"{re.escape(statement)} {REGISTERS_B32}, \[%r\d+\], %r\d+;", ptx)
    assert found, ptx
    assert len(set(found.group(1).split(", "))) == 8


@pytest.mark.parametrize("statement", PRODUCTS)
def test_a_product_updates_its_accumulator_in_the_same_registers(ptx_of, statement):
    mma = PRODUCTS[statement]

    def kernel(address):
        a = cuda.local.array(8, uint32)
        b = cuda.local.array(8, uint32)
        c = cuda.local.array(8, float32)
        wmma.load_a_row(a, address, 16)
        wmma.load_b_col(b, address + 512, 16)
        wmma.fill(c, 0)
        mma(c, a, b)
        wmma.store_shared(address, c, 16)

    ptx = ptx_of(kernel, int32)
    found = re.search(
        rf"{re.escape(statement)} {REGISTERS_F32}, {REGISTERS_B32}, {REGISTERS_B32}, {REGISTERS_F32};", ptx
    )
    assert found, ptx
    result, a, b, accumulator = found.groups()
    assert result == accumulator
    before = ptx[: found.start()]
    for register in accumulator.split(", "):  # the same that `fill` has set
        assert re.search(rf"mov\.f32\s+{register},", before)
    assert not set(a.split(", ")) & set(b.split(", "))
    assert a == re.search(rf"wmma\.load\.a\S* {REGISTERS_B32}", ptx).group(1)
    assert b == re.search(rf"wmma\.load\.b\S* {REGISTERS_B32}", ptx).group(1)


@pytest.mark.parametrize(
    ("store", "address_type", "space", "address"),
    [(wmma.store_shared, int32, "shared", "%r"), (wmma.store_global, int64, "global", "%rd")],
)
def test_a_store_writes_row_major_f32_from_eight_registers(ptx_of, store, address_type, space, address):
    def kernel(destination, stride):
        accumulator = cuda.local.array(8, float32)
        wmma.fill(accumulator, 1)
        store(destination, accumulator, stride)

    ptx = ptx_of(kernel, address_type, int32)
    statement = (
        rf"wmma\.store\.d\.sync\.aligned\.row\.m16n16k16\.{space}\.f32 \[{address}\d+\], {REGISTERS_F32}, %r\d+;"
    )
    assert re.search(statement, ptx), ptx


def test_fill_sets_every_register_to_the_value(ptx_of):
    def kernel(address):
        accumulator = cuda.local.array(8, float32)
        wmma.fill(accumulator, 1.5)
        wmma.store_shared(address, accumulator, 16)

    ptx = ptx_of(kernel, int32)
    one_and_a_half = "0f3FC00000"  # IEEE 754: sign 0, exponent 127, fraction 0.5
    copies = dict(re.findall(r"mov\.f32\s+(%f\d+), (0f\w+|%f\d+);", ptx))
    stored = re.search(rf"wmma\.store\S* \[%r\d+\], {REGISTERS_F32}", ptx).group(1).split(", ")
    assert len(stored) == 8
    for register in stored:
        while register in copies:
            register = copies[register]
        assert register == one_and_a_half


def test_fragments_of_a_kernel_need_no_local_memory(ptx_of):
    def kernel(address, steps):
        a = cuda.local.array((2, 8), uint32)
        c = cuda.local.array((2, 8), float32)
        for i in range(2):
            wmma.fill(c[i], 0)
        for _ in range(steps):
            for i in range(2):
                wmma.load_a_row(a[i], address + i * 512, 16)
                wmma.mma_row_col(c[i], a[i], a[i])
        for i in range(2):
            wmma.store_shared(address + i * 1024, c[i], 16)

    ptx = ptx_of(kernel, int32, int32)
    assert "wmma.mma" in ptx
    assert ".local" not in ptx


@pytest.mark.parametrize("wrong", [float32, int64])
def test_an_operand_fragment_of_the_wrong_type_is_refused(ptx_of, wrong):
    def kernel(address):
        fragment = cuda.local.array(8, wrong)
        wmma.load_a_row(fragment, address, 16)

    with pytest.raises(TypingError, match=rf"fragment must be a local array of 8 uint32, got array\({wrong}, 1d, C\)"):
        ptx_of(kernel, int32)


def test_an_accumulator_of_bits_is_refused(ptx_of):
    def kernel(address):
        fragment = cuda.local.array(8, uint32)
        wmma.mma_row_col(fragment, fragment, fragment)

    with pytest.raises(TypingError, match="accumulator must be a local array of 8 float32"):
        ptx_of(kernel, int32)


def test_a_fragment_that_is_two_dimensional_is_refused(ptx_of):
    def kernel(address):
        fragments = cuda.local.array((2, 8), uint32)
        wmma.load_a_row(fragments, address, 16)

    with pytest.raises(TypingError, match=r"fragment must be a local array of 8 uint32, got array\(uint32, 2d, C\)"):
        ptx_of(kernel, int32)
