"""Instructions for every issue slot: two FMA to one rotation, in chains that do not wait for one another.

The loop's own three instructions are not counted: the rate is up to 1.2 % too low.

No kind alone would do on every GPU: integer units take one instruction of a scheduler every second cycle (compute
capability 9.0), f32 units the same before 8.6. CUDA C++ Programming Guide, "Arithmetic Instructions: Throughput".
"""

from numba import cuda
from numba.cuda import types

from playground.kernels.kernel import Kernel
from playground.kernels.rates.per_sm import THREADS, WORD, per_sm_kernel
from playground.kernels.rates.stamps import begin, end
from playground.ptx.arithmetic import fma, rotate_left
from playground.ptx.memory import load_global_s32, load_global_u32, store_global_u32

FMA_CHAINS, ROTATIONS, STEPS = 8, 4, 21

float32, int64, uint32 = types.float32, types.int64, types.uint32


def issue() -> Kernel:
    """out [blocks, 512] u32 = the sum of 4 words and, truncated, of 8 f32; each changed 21 times per repetition.

    The words begin at x, x + 1, … and rotate by one bit; the f32 at x % 1024 + 0, 1, … and go halfway to 2.
    """

    def issue(x, repetitions, out, stamps, blocks):
        thread = cuda.blockIdx.x * THREADS + cuda.threadIdx.x
        times = load_global_s32(repetitions)
        start = load_global_u32(x + thread * WORD)
        values = cuda.local.array(FMA_CHAINS, float32)
        words = cuda.local.array(ROTATIONS, uint32)
        taken = cuda.local.array(2, int64)
        for chain in range(FMA_CHAINS):
            values[chain] = float32(start & uint32(1023)) + float32(chain)
        for chain in range(ROTATIONS):
            words[chain] = uint32(start + uint32(chain))

        begin(taken)
        for _ in range(times):
            for _ in range(STEPS):
                for chain in range(ROTATIONS):
                    values[2 * chain] = fma(values[2 * chain], float32(0.5), float32(1))
                    words[chain] = rotate_left(words[chain])
                    values[2 * chain + 1] = fma(values[2 * chain + 1], float32(0.5), float32(1))
        end(taken, stamps)

        total = uint32(0)
        for chain in range(FMA_CHAINS):
            total = uint32(total + uint32(values[chain]))
        for chain in range(ROTATIONS):
            total = uint32(total + words[chain])
        store_global_u32(out + thread * WORD, total)

    return per_sm_kernel(issue, "uint32", {})
