"""Reads of global memory past L1, 16 bytes per lane, every block a row at a time, and in each pass another row."""

from numba import cuda
from numba.cuda import types

from playground.kernels.contract import Contract, Tensor
from playground.kernels.kernel import Kernel
from playground.kernels.rates.per_sm import THREADS, WARPS, WORD
from playground.kernels.rates.stamps import begin, end, stamps_tensor
from playground.ptx.integer import urem
from playground.ptx.memory import load_global_cg_v4, load_global_s32, store_global_u32

LOADS, VECTOR = 4, 4
STEP = THREADS * LOADS * VECTOR
"""Words that a block reads at once: 32 KiB."""
RESIDENT = 2
"""Blocks per SM, so that while one waits at its end the other reads."""

int64, uint32 = types.int64, types.uint32

GLOBAL_READS = Contract(
    name="rates_global_reads",
    tensors=(
        Tensor("x", "uint32", ("blocks", "n")),
        Tensor("passes", "int32", (2,)),
        Tensor("out", "uint32", ("blocks", THREADS), written=True),
        stamps_tensor("blocks", WARPS),
    ),
    dimensions=("blocks", "n"),
    complaint=lambda blocks, n: f"n = {n} is not a multiple of {STEP}" if n % STEP else None,
)


def global_reads() -> Kernel:
    """out [blocks, 512] u32 = the sum of the words that a thread read; x [blocks, n] u32, n a multiple of 8192.

    passes: those before the time is taken, which bring x into L2 if it fits, and those from then on. Block b reads row
    (b + pass) modulo blocks.
    """

    def global_reads(x, passes, out, stamps, blocks, n):
        lane = cuda.threadIdx.x * VECTOR
        first, timed = load_global_s32(passes), load_global_s32(passes + WORD)
        words = cuda.local.array((LOADS, VECTOR), uint32)
        taken = cuda.local.array(2, int64)
        total = uint32(0)
        for turn in range(first + timed):
            if turn == first:
                begin(taken)
            row = x + int64(urem(cuda.blockIdx.x + turn, blocks)) * n * WORD
            for step in range(0, n, STEP):
                for load in range(LOADS):
                    load_global_cg_v4(words[load], row + (step + load * THREADS * VECTOR + lane) * WORD)
                for load in range(LOADS):
                    for word in range(VECTOR):
                        total = uint32(total + words[load, word])
        end(taken, stamps)
        store_global_u32(out + (cuda.blockIdx.x * THREADS + cuda.threadIdx.x) * WORD, total)

    return Kernel(
        name="global_reads",
        contract=GLOBAL_READS,
        function=global_reads,
        threads=THREADS,
        grid=lambda blocks, n: (blocks, 1, 1),
        alignment={"x": 16},
        min_blocks=RESIDENT,
    )
