"""When each warp began and ended the work that is measured, by the SM's own clock and by the GPU's timer.

Every warp, because the first one's time is not its block's: schedulers prefer it, and by its stamps alone an H200
executed 5.07 instructions per cycle on its 4 schedulers. A barrier before the last stamp did not help: ptxas reads the
clock above it.
"""

from numba import cuda
from numba.cuda import types

from playground.kernels.contract import Tensor
from playground.ptx.clock import cycles, multiprocessor, nanoseconds
from playground.ptx.device_function import device_function
from playground.ptx.memory import store_global_s64

CYCLES, NANOSECONDS, SM = slice(0, 2), slice(2, 4), 4
"""Where in a warp's row of `stamps` they are: begin and end in cycles, in nanoseconds; the SM's number."""
STAMPS = 5
ROW = STAMPS * 8

int64 = types.int64


def stamps_tensor(blocks: str | int, warps: int) -> Tensor:
    """The output that `begin` and `end` fill: a row per warp."""
    return Tensor("stamps", "int64", (blocks, warps, STAMPS), written=True)


@device_function
def begin(taken):
    """All threads of the block are here: take the time into `taken`, a local array of 2 int64."""
    cuda.syncthreads()
    taken[0] = cycles()
    taken[1] = nanoseconds()


@device_function
def end(taken, stamps):
    """The warp has done its work: store its row."""
    cycle, nanosecond = cycles(), nanoseconds()
    if cuda.threadIdx.x & 31 == 0:
        row = stamps + ((cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x) >> 5) * ROW
        store_global_s64(row, taken[0])
        store_global_s64(row + 8, cycle)
        store_global_s64(row + 16, taken[1])
        store_global_s64(row + 24, nanosecond)
        store_global_s64(row + 32, multiprocessor())
