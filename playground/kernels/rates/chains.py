"""Independent chains of one arithmetic instruction: as many as its unit takes, each waiting for itself alone.

fma: v = v / 2 + 1, towards 2. ex2: v = 2⁻ᵛ, towards 0.6412. Both end near there wherever they began.
"""

from numba import cuda
from numba.cuda import types

from playground.kernels.kernel import Kernel
from playground.kernels.parameters import check_choice
from playground.kernels.rates.per_sm import THREADS, WORD, per_sm_kernel
from playground.kernels.rates.stamps import begin, end
from playground.ptx.arithmetic import fma
from playground.ptx.device_function import device_function
from playground.ptx.exponential import exp2
from playground.ptx.memory import load_global_f32, load_global_s32, store_global_f32

CHAINS = 8
STEPS = {"fma": 32, "ex2": 8}
"""Per repetition: unrolled whole, and long enough that the loop's own three instructions take no time to speak of."""

float32, int64 = types.float32, types.int64


def chains(instruction: str) -> Kernel:
    """out [blocks, 512] f32 = the sum of 8 chains that begin at x, x + 1, …, after STEPS per repetition.

    instruction: "fma" or "ex2", whose x are not below -7.
    """
    check_choice("chains", "instruction", instruction, ("fma", "ex2"))
    steps = STEPS[instruction]
    step = {"fma": halfway_to_2, "ex2": exp2_of_negative}[instruction]

    def chains(x, repetitions, out, stamps, blocks):
        thread = cuda.blockIdx.x * THREADS + cuda.threadIdx.x
        times = load_global_s32(repetitions)
        values = cuda.local.array(CHAINS, float32)
        taken = cuda.local.array(2, int64)
        for chain in range(CHAINS):
            values[chain] = load_global_f32(x + thread * WORD) + float32(chain)

        begin(taken)
        for _ in range(times):
            for _ in range(steps):
                for chain in range(CHAINS):
                    values[chain] = step(values[chain])
        end(taken, stamps)

        total = float32(0)
        for chain in range(CHAINS):
            total += values[chain]
        store_global_f32(out + thread * WORD, total)

    return per_sm_kernel(chains, "float32", {"instruction": instruction})


@device_function
def halfway_to_2(value):
    """One FFMA."""
    return fma(value, float32(0.5), float32(1))


@device_function
def exp2_of_negative(value):
    """One MUFU.EX2, which negates its operand for nothing."""
    return exp2(-value)
