"""convert_f32_f16: y[n] f16 = x[n] f32, rounded to nearest even. Source: seed 000, §3.2, P5·1.

8 per lane is the source's own: a lane loads its 32 bytes in two halves, so each load asks for one half of every sector
and L1 has to hold the other. 4 per lane loads whole sectors.
"""

from numba import cuda
from numba.cuda import types

from playground.kernels.contract import Contract, Tensor
from playground.kernels.elementwise.geometry import THREADS, flat_grid
from playground.kernels.kernel import Kernel
from playground.kernels.parameters import check_choice
from playground.ptx.convert import pack_f16x2, to_f16
from playground.ptx.device_function import device_function
from playground.ptx.memory import (
    load_global_f32,
    load_global_v4_f32,
    store_global_u16,
    store_global_v2,
    store_global_v4,
)

FLOAT, HALF = 4, 2
VECTOR = 4

float32, uint32 = types.float32, types.uint32

CONVERT_F32_F16 = Contract(
    name="convert_f32_f16",
    tensors=(Tensor("x", "float32", ("n",)), Tensor("y", "float16", ("n",), written=True)),
    dimensions=("n",),
    emulated=({"n": 1003}, {"n": 8192}),
    rate="GB/s",
)


def convert_f32_f16(per_lane: int = 8) -> Kernel:
    """y[n] f16 = x[n] f32; any n: the lane at the end converts what is left one by one.

    per_lane: elements per thread, 1, 4 or 8; from 4 on by 16-byte loads and stores of 8 or 16 bytes.
    """
    check_choice("convert_f32_f16", "per_lane", per_lane, (1, 4, 8))
    read, write = access(per_lane)
    vectors = -(-per_lane // VECTOR)

    def convert_f32_f16(x, y, n):
        first = (cuda.blockIdx.x * THREADS + cuda.threadIdx.x) * per_lane
        if first + per_lane <= n:
            values = cuda.local.array((vectors, VECTOR), float32)
            read(values, x + first * FLOAT)
            write(y + first * HALF, values)
        else:
            for element in range(first, first + per_lane):
                if element < n:
                    convert_one(x + element * FLOAT, y + element * HALF)

    return Kernel(
        name="convert_f32_f16",
        parameters={"per_lane": per_lane},
        contract=CONVERT_F32_F16,
        function=convert_f32_f16,
        threads=THREADS,
        grid=lambda n: flat_grid(n, THREADS * per_lane),
        minimum_cc=(7, 5) if per_lane == 1 else (8, 0),
        alignment={} if per_lane == 1 else {"x": VECTOR * FLOAT, "y": per_lane * HALF},
        period={"n": THREADS * per_lane},
    )


@device_function
def convert_one(source, destination):
    """One element."""
    store_global_u16(destination, to_f16(load_global_f32(source)))


def access(per_lane: int):
    """Device functions: `read(values, source)` so many f32, and `write(destination, values)` them as f16.

    values: a local array of f32, VECTOR wide, with a row per 16 bytes read. They are two, so that a caller who has to
    load the address to write to need not wait for it before it reads.
    """
    return (read_one, write_one) if per_lane == 1 else vector_access(per_lane // VECTOR)


@device_function
def read_one(values, source):
    """One element."""
    values[0, 0] = load_global_f32(source)


@device_function
def write_one(destination, values):
    """One element."""
    store_global_u16(destination, to_f16(values[0, 0]))


def vector_access(vectors: int):
    """As `access`: one or two times 16 bytes in, and 8 or 16 bytes out."""
    store, pairs = {1: (store_global_v2, 2), 2: (store_global_v4, 4)}[vectors]

    @device_function
    def read(values, source):
        for vector in range(vectors):
            load_global_v4_f32(values[vector], source + vector * VECTOR * FLOAT)

    @device_function
    def write(destination, values):
        words = cuda.local.array(pairs, uint32)
        for vector in range(vectors):
            words[2 * vector] = pack_f16x2(values[vector, 0], values[vector, 1])
            words[2 * vector + 1] = pack_f16x2(values[vector, 2], values[vector, 3])
        store(destination, words)

    return read, write
