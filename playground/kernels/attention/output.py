"""The end of the walk: divide by the sums and write O, masked where the last rows are missing."""

from numba import cuda, float32

from playground.kernels.attention.fragments import LANE_ROWS, scale_rows
from playground.ptx import wmma
from playground.ptx.device_function import device_function
from playground.ptx.integer import udiv, urem
from playground.ptx.memory import load_shared_f32, store_global_f32

FRAGMENT = 16
FLOAT = 4
REGISTERS = wmma.REGISTERS


@device_function
def reciprocal(total):
    """1 / total, and 0 for a query that saw no key."""
    return float32(1) / total if total > float32(0) else float32(0)


def store_fragments(columns: int, staging_row_bytes: int):
    """A device function: `store(O, staging, acc, total, rows, head_stride)` for 16 rows × columns of fragments.

    O: address of the first element. total: the sums of the lane's two rows. rows: how many of the 16 exist. Full
    fragments go straight to O; the last rows go by way of `staging` in shared memory, which is free by then.
    head_stride: elements between rows of O.
    """
    fragments = columns // FRAGMENT

    @device_function
    def store(O, staging, acc, total, rows, head_stride):
        factors = cuda.local.array(LANE_ROWS, float32)
        for row in range(LANE_ROWS):
            factors[row] = reciprocal(total[row])
        for c in range(fragments):
            scale_rows(acc[c], factors)
        if rows >= FRAGMENT:
            for c in range(fragments):
                wmma.store_global(O + c * FRAGMENT * FLOAT, acc[c], head_stride)
        else:
            for c in range(fragments):
                wmma.store_shared(staging + c * FRAGMENT * FLOAT, acc[c], staging_row_bytes // FLOAT)
            cuda.syncwarp()
            for element in range(cuda.threadIdx.x & 31, FRAGMENT * columns, 32):
                row = udiv(element, columns)
                column = urem(element, columns)
                if row < rows:
                    value = load_shared_f32(staging + row * staging_row_bytes + column * FLOAT)
                    store_global_f32(O + (row * head_stride + column) * FLOAT, value)

    return store
