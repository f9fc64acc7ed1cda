"""mma: the statement of the PTX ISA (§ mma), registers in place, and a product by the ISA's fragment layouts."""

import re

import numpy as np
from numba import cuda
from numba.cuda.types import Array, float32, uint32

from playground.emulator import emulate
from playground.ptx.mma import mma_16x8x16

STATEMENT = re.compile(
    r"mma\.sync\.aligned\.m16n8k16\.row\.col\.f32\.f16\.f16\.f32 \{(.*?)\}, \{(.*?)\}, \{(.*?)\}, \{(.*?)\};"
)


def twice(a, b, c):
    """The accumulator after two products; a, b, c: a row of registers per lane."""
    fa = cuda.local.array(4, uint32)
    fb = cuda.local.array(2, uint32)
    fc = cuda.local.array(4, float32)
    lane = cuda.threadIdx.x
    for register in range(4):
        fa[register] = a[lane, register]
        fc[register] = c[lane, register]
    for register in range(2):
        fb[register] = b[lane, register]
    for _ in range(2):
        mma_16x8x16(fc, fa, fb)
    for register in range(4):
        c[lane, register] = fc[register]


def test_a_product_updates_its_accumulator_in_the_same_registers(ptx_of):
    ptx = ptx_of(twice, Array(uint32, 2, "C"), Array(uint32, 2, "C"), Array(float32, 2, "C"))
    products = STATEMENT.findall(ptx)
    assert products, ptx
    for result, a, b, accumulator in products:
        assert result == accumulator
        assert [text.count("%f") for text in (result, a, b)] == [4, 0, 0]
        assert [text.count("%r") for text in (a, b)] == [4, 2]
    assert ".local" not in ptx


def test_fragments_are_laid_out_as_the_isa_says():
    """PTX ISA, "Matrix Fragments for mma.m16n8k16": groupID = lane / 4 and threadID_in_group = lane % 4."""
    random = np.random.default_rng(0)
    A, B, C = (random.integers(-8, 9, shape).astype(np.float32) for shape in ((16, 16), (16, 8), (16, 8)))
    group, pair = np.arange(32) // 4, 2 * (np.arange(32) % 4)
    rows, columns = [group, group + 8, group, group + 8], [pair, pair, pair + 8, pair + 8]
    a = np.stack([A[row, column + i] for row, column in zip(rows, columns) for i in (0, 1)], 1)
    b = np.stack([B[first + i, group] for first in (pair, pair + 8) for i in (0, 1)], 1)
    places = [(group, pair), (group, pair + 1), (group + 8, pair), (group + 8, pair + 1)]
    c = np.stack([C[place] for place in places], 1)
    report = emulate(twice, 1, 32, *(each.astype(np.float16).view(np.uint32) for each in (a, b)), c)
    wanted = C + 2 * (A @ B)
    assert np.array_equal(c, np.stack([wanted[place] for place in places], 1))
    assert report.clean
    assert report.counts.total()["mma_flop"] == 2 * 2 * 16 * 8 * 16
