"""Which element of a matrix each lane's registers hold, as the PTX ISA writes it.

A map takes i, the element's number in the lane's fragment, and gives (row, column) as int64 (32,), one per lane.
Sections: "Matrix Fragments for mma.m16n8k8", "Matrix Fragments for mma.m16n8k16 with floating point type",
"Warp-level matrix load instruction: ldmatrix".

The fragments of wmma are opaque in the ISA. What is modelled is what GPUs of compute capability 8.0 and later do: they
multiply by mma.m16n8k16, so a wmma fragment is the fragments of those side by side. The accumulator and the row-major A
of m16n16k16 then hold the same (row, column) in the same place, and programs rely on it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

lane = np.arange(32)
groupID = lane >> 2
threadID_in_group = lane % 4


def a_m16n8k16(i: int):
    row = groupID if 0 <= i < 2 or 4 <= i < 6 else groupID + 8
    col = threadID_in_group * 2 + (i & 0x1) if i < 4 else threadID_in_group * 2 + (i & 0x1) + 8
    return row, col


def b_m16n8k16(i: int):
    row = threadID_in_group * 2 + (i & 0x1) if i < 2 else threadID_in_group * 2 + (i & 0x1) + 8
    col = groupID
    return row, col


def c_m16n8(i: int):
    row = groupID if i < 2 else groupID + 8
    col = threadID_in_group * 2 + (i & 0x1)
    return row, col


def a_m16n8k8(i: int):
    row = groupID if i < 2 else groupID + 8
    col = threadID_in_group * 2 + (i & 0x1)
    return row, col


def b_m16n8k8(i: int):
    row = threadID_in_group * 2 + i
    col = groupID
    return row, col


def b_two_columns(i: int):
    """Modelled: B 16×16 of wmma as two B 16×8."""
    row, col = b_m16n8k16(i % 4)
    return row, col + 8 * (i // 4)


def c_two_columns(i: int):
    """Modelled: an accumulator 16×16 of wmma as two of 16×8."""
    row, col = c_m16n8(i % 4)
    return row, col + 8 * (i // 4)


def a_two_rows(i: int):
    """Modelled: A 32×16 of wmma.m32n8k16 as two A 16×16."""
    row, col = a_m16n8k16(i % 8)
    return row + 16 * (i // 8), col


def c_two_rows(i: int):
    """Modelled: an accumulator 32×8 as two of 16×8."""
    row, col = c_m16n8(i % 4)
    return row + 16 * (i // 4), col


def transposed(element: Callable) -> Callable:
    """Modelled: m8n32k16 is m32n8k16 with the operands exchanged and everything transposed."""

    def swapped(i: int):
        row, col = element(i)
        return col, row

    return swapped


@dataclass(frozen=True)
class Fragment:
    """A matrix of `shape` (rows, columns), `elements` of it in each lane, the registers repeated `copies` times."""

    element: Callable
    shape: tuple[int, int]
    elements: int
    copies: int = 1

    @cached_property
    def rows(self):
        """int64 (elements, 32)."""
        return np.array([self.element(i)[0] for i in range(self.elements)])

    @cached_property
    def columns(self):
        """int64 (elements, 32)."""
        return np.array([self.element(i)[1] for i in range(self.elements)])

    @cached_property
    def order(self):
        """int64, like the matrix: where each of its elements is among (elements, 32)."""
        order = np.full(self.shape, -1)
        order[self.rows, self.columns] = np.arange(32 * self.elements).reshape(-1, 32)
        return order

    @cached_property
    def packed_order(self):
        """As `order`, among 16-bit elements packed by pairs in 32-bit registers: (elements / 2, 32, 2)."""
        element, lane_number = self.order // 32, self.order % 32
        return (element // 2 * 32 + lane_number) * 2 + element % 2


MMA = {
    "m16n8k16": (
        Fragment(a_m16n8k16, (16, 16), 8),
        Fragment(b_m16n8k16, (16, 8), 4),
        Fragment(c_m16n8, (16, 8), 4),
    ),
    "m16n8k8": (
        Fragment(a_m16n8k8, (16, 8), 4),
        Fragment(b_m16n8k8, (8, 8), 2),
        Fragment(c_m16n8, (16, 8), 4),
    ),
}

WMMA = {
    "m16n16k16": (
        Fragment(a_m16n8k16, (16, 16), 8, copies=2),
        Fragment(b_two_columns, (16, 16), 8, copies=2),
        Fragment(c_two_columns, (16, 16), 8),
    ),
    "m32n8k16": (
        Fragment(a_two_rows, (32, 16), 16),
        Fragment(b_m16n8k16, (16, 8), 4, copies=4),
        Fragment(c_two_rows, (32, 8), 8),
    ),
    "m8n32k16": (
        Fragment(transposed(b_m16n8k16), (8, 16), 4, copies=4),
        Fragment(transposed(a_two_rows), (16, 32), 16),
        Fragment(transposed(c_two_rows), (8, 32), 8),
    ),
}
