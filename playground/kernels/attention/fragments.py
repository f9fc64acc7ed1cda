"""The lane map of a 16×16 f32 accumulator, on which the softmax in registers rests.

The PTX ISA calls wmma fragments opaque. GPUs lay this one out as two 16×8 mma fragments side by side: a lane holds rows
lane / 4 and lane / 4 + 8, and of each row the columns 2 · (lane % 4) + 0, 1, 8, 9. Source: seed 001, §2 "4-lane row
groups".
"""

from playground.ptx import wmma
from playground.ptx.device_function import device_function

LANE_ROWS = 2
REGISTERS = wmma.REGISTERS


@device_function
def half_of(element):
    """Which of the lane's two rows the element belongs to: 0, 0, 1, 1, 0, 0, 1, 1."""
    return (element >> 1) & 1


@device_function
def row_of(lane, half):
    """The row in the fragment of the lane's first (0) or second (1) row."""
    return (lane >> 2) + 8 * half


@device_function
def column_of(lane, element):
    """The column in the fragment of the lane's element."""
    return 2 * (lane & 3) + (element & 1) + 8 * (element >> 2)


@device_function
def scale_rows(accumulator, factors):
    """Multiply the lane's two rows of an accumulator by factors[0] and factors[1]."""
    for element in range(REGISTERS):
        accumulator[element] *= factors[half_of(element)]
