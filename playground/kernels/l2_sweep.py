"""Reads a buffer from end to end, so that nothing else is left in L2.

It reads because a fill would leave the cache full of dirty lines, which the kernel timed next would have to write back.
"""

from numba import cuda
from numba.cuda.types import float32

from playground.kernels.contract import Contract, Tensor
from playground.kernels.kernel import Kernel
from playground.ptx.memory import load_global_f32, store_global_f32

THREADS, BLOCKS = 512, 1024
FLOAT = 4

L2_SWEEP = Contract(
    name="l2_sweep",
    tensors=(Tensor("x", "float32", ("n",)), Tensor("sink", "float32", (1,), written=True)),
    dimensions=("n",),
)


def l2_sweep() -> Kernel:
    """A kernel that reads x[n] f32, n a multiple of 524,288, and writes sink[0] only if the sum is exactly 1."""

    def l2_sweep(x, sink, n):
        total = float32(0)
        first = cuda.blockIdx.x * THREADS + cuda.threadIdx.x
        for element in range(first, n, THREADS * BLOCKS):
            total += load_global_f32(x + element * FLOAT)
        if total == float32(1):
            store_global_f32(sink, total)

    return Kernel(
        name="l2_sweep",
        contract=L2_SWEEP,
        function=l2_sweep,
        threads=THREADS,
        grid=lambda n: (BLOCKS, 1, 1),
    )
