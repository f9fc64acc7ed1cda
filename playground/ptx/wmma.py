"""wmma m16n16k16: f16 operands, f32 accumulation.

PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions Using wmma". A fragment is opaque: which lane holds which
element is the hardware's business, and only these instructions may interpret it. Each lane holds a fragment as eight
registers: 8 × .b32 (pairs of halves) for A and B, 8 × .f32 for the accumulator.

The whole warp executes each of these together, with the same address and stride.
"""

from numba.cuda import types

from playground.ptx._instruction import Fragment, instruction
from playground.ptx.device_function import device_function

float32, int32, int64, uint32 = types.float32, types.int32, types.int64, types.uint32

REGISTERS = 8


def _load(operand, layout):
    opcode = f"wmma.load.{operand}.sync.aligned.{layout}.m16n16k16.shared.f16"

    @instruction(opcode + " {fragment}, [{address}], {stride};")
    def load(fragment: Fragment(uint32, REGISTERS, written=True), address: uint32, stride: int32):
        """Load a 16×16 f16 operand from shared memory.

        `address`: shared window, 32-byte aligned. `stride`: halves between consecutive rows (row layout) or columns
        (col layout), a multiple of 8. PTX ISA: wmma.load.
        """

    return load


load_a_row = _load("a", "row")
load_a_col = _load("a", "col")
load_b_row = _load("b", "row")
load_b_col = _load("b", "col")


def _mma(a_layout, b_layout):
    opcode = f"wmma.mma.sync.aligned.{a_layout}.{b_layout}.m16n16k16.f32.f32"

    @instruction(opcode + " {accumulator}, {a}, {b}, {accumulator};", touches_memory=False)
    def mma(
        accumulator: Fragment(float32, REGISTERS, read=True, written=True),
        a: Fragment(uint32, REGISTERS, read=True),
        b: Fragment(uint32, REGISTERS, read=True),
    ):
        """accumulator += a · b, with the layouts that `a` and `b` were loaded with. PTX ISA: wmma.mma."""

    return mma


mma_row_col = _mma("row", "col")
mma_row_row = _mma("row", "row")
mma_col_col = _mma("col", "col")
mma_col_row = _mma("col", "row")


@instruction("wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [{address}], {accumulator}, {stride};")
def store_shared(address: uint32, accumulator: Fragment(float32, REGISTERS, read=True), stride: int32):
    """Store a 16×16 f32 accumulator, row-major, to shared memory; `stride` in elements. PTX ISA: wmma.store."""


@instruction("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [{address}], {accumulator}, {stride};")
def store_global(address: int64, accumulator: Fragment(float32, REGISTERS, read=True), stride: int32):
    """Store a 16×16 f32 accumulator, row-major, to global memory; `stride` in elements. PTX ISA: wmma.store."""


@device_function
def fill(accumulator, value):
    """Set every element of an accumulator. No PTX instruction: a register is assigned, whoever's element it holds."""
    for register in range(REGISTERS):
        accumulator[register] = value
