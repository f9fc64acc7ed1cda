"""Which lane holds which element: a kernel that dumps wmma fragments register by register.

The values are their own indices, 16 · row + column, exact in f16. For the A fragment they are loaded; for the
accumulator they are computed, as identity · values, since a C fragment and a D fragment share one layout.
"""

from numba import cuda
from numba.cuda import types

from playground.kernels.contract import Contract, Tensor
from playground.kernels.kernel import Kernel
from playground.kernels.layout import ALIGNMENT, Region, SharedLayout
from playground.ptx import wmma
from playground.ptx.memory import (
    load_global_v4,
    shared_address,
    store_global_f32,
    store_global_u32,
    store_shared_v4,
)

SIZE, LANES = 16, 32
HALF, WORD = 2, 4
REGISTERS = wmma.REGISTERS
ROW = SIZE * HALF

float32, uint8, uint32 = types.float32, types.uint8, types.uint32

LANE_MAPS = Contract(
    name="lane_maps",
    tensors=(
        Tensor("values", "float16", (SIZE, SIZE)),
        Tensor("identity", "float16", (SIZE, SIZE)),
        Tensor("operand", "uint32", (LANES, REGISTERS), written=True),
        Tensor("accumulator", "float32", (LANES, REGISTERS), written=True),
    ),
    dimensions=(),
    flop=lambda: 2 * SIZE**3,
)


def lane_maps() -> Kernel:
    """One warp: operand[lane] is its row-major A fragment (pairs of halves), accumulator[lane] its f32 fragment."""
    layout = SharedLayout(Region("values", (SIZE, SIZE), HALF), Region("identity", (SIZE, SIZE), HALF))
    VALUES, IDENTITY = layout["values"].offset, layout["identity"].offset

    def lane_maps(values, identity, operand, accumulator):
        shared = shared_address(cuda.shared.array(0, uint8, alignment=ALIGNMENT))
        lane = cuda.threadIdx.x
        words = cuda.local.array(4, uint32)
        load_global_v4(words, values + lane * 16)
        store_shared_v4(shared + VALUES + lane * 16, words)
        load_global_v4(words, identity + lane * 16)
        store_shared_v4(shared + IDENTITY + lane * 16, words)
        cuda.syncthreads()

        fa = cuda.local.array(REGISTERS, uint32)
        fb = cuda.local.array(REGISTERS, uint32)
        fc = cuda.local.array(REGISTERS, float32)
        wmma.fill(fc, 0)
        wmma.load_a_row(fa, shared + IDENTITY, SIZE)
        wmma.load_b_row(fb, shared + VALUES, SIZE)
        wmma.mma_row_row(fc, fa, fb)
        wmma.load_a_row(fa, shared + VALUES, SIZE)
        for register in range(REGISTERS):
            store_global_u32(operand + (lane * REGISTERS + register) * WORD, fa[register])
            store_global_f32(accumulator + (lane * REGISTERS + register) * WORD, fc[register])

    return Kernel(
        name="lane_maps",
        contract=LANE_MAPS,
        function=lane_maps,
        threads=LANES,
        grid=lambda: (1, 1, 1),
        layout=layout,
    )
