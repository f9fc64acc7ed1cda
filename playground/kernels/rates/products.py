"""Matrix products of ones, from registers into accumulators that do not wait for one another.

A is all ones and B all sixteenths, so that every product adds exactly 1 to each element, whichever lane holds it.
"""

from numba import cuda
from numba.cuda import types

from playground.kernels.kernel import Kernel
from playground.kernels.parameters import check_choice
from playground.kernels.rates.per_sm import THREADS, WORD, per_sm_kernel
from playground.kernels.rates.stamps import begin, end
from playground.ptx import mma, wmma
from playground.ptx.memory import load_global_f32, load_global_s32, store_global_f32

STEPS = 4
ONES, SIXTEENTHS = 0x3C003C00, 0x2C002C00
"""Pairs of f16."""

float32, int64, uint32 = types.float32, types.int64, types.uint32


def products(instruction: str) -> Kernel:
    """out [blocks, 512] f32 = the sum of a thread's accumulators, register i of which begins at x + i, after 4
    products per accumulator and repetition.

    instruction: "wmma" (m16n16k16, 4 accumulators) or "mma" (mma.sync m16n8k16, 8 accumulators).
    """
    check_choice("products", "instruction", instruction, ("wmma", "mma"))
    TILES = tiles(instruction)
    A, B, C = (wmma.REGISTERS,) * 3 if instruction == "wmma" else (mma.A_REGISTERS, mma.B_REGISTERS, mma.ACCUMULATORS)
    multiply = wmma.mma_row_col if instruction == "wmma" else mma.mma_16x8x16

    def products(x, repetitions, out, stamps, blocks):
        thread = cuda.blockIdx.x * THREADS + cuda.threadIdx.x
        times = load_global_s32(repetitions)
        fa = cuda.local.array(A, uint32)
        fb = cuda.local.array(B, uint32)
        fc = cuda.local.array((TILES, C), float32)
        taken = cuda.local.array(2, int64)
        for register in range(A):
            fa[register] = ONES
        for register in range(B):
            fb[register] = SIXTEENTHS
        for tile in range(TILES):
            for register in range(C):
                fc[tile, register] = load_global_f32(x + thread * WORD) + float32(tile * C + register)

        begin(taken)
        for _ in range(times):
            for _ in range(STEPS):
                for tile in range(TILES):
                    multiply(fc[tile], fa, fb)
        end(taken, stamps)

        total = float32(0)
        for tile in range(TILES):
            for register in range(C):
                total += fc[tile, register]
        store_global_f32(out + thread * WORD, total)

    return per_sm_kernel(products, "float32", {"instruction": instruction}, minimum_cc=(8, 0))


def tiles(instruction: str) -> int:
    """Accumulators per warp: 32 registers of each thread."""
    return 4 if instruction == "wmma" else 8
