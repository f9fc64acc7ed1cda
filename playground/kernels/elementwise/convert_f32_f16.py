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
    convert = {1: convert_one, 4: convert_4, 8: convert_8}[per_lane]

    def convert_f32_f16(x, y, n):
        first = (cuda.blockIdx.x * THREADS + cuda.threadIdx.x) * per_lane
        if first + per_lane <= n:
            convert(x + first * FLOAT, y + first * HALF)
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
        alignment=1 if per_lane == 1 else 16,
        period={"n": THREADS * per_lane},
    )


@device_function
def convert_one(source, destination):
    """One element."""
    store_global_u16(destination, to_f16(load_global_f32(source)))


@device_function
def convert_4(source, destination):
    """Four elements: 16 bytes in, 8 out."""
    values = cuda.local.array(VECTOR, float32)
    words = cuda.local.array(2, uint32)
    load_global_v4_f32(values, source)
    for word in range(2):
        words[word] = pack_f16x2(values[2 * word], values[2 * word + 1])
    store_global_v2(destination, words)


@device_function
def convert_8(source, destination):
    """Eight elements: twice 16 bytes in, 16 out."""
    low = cuda.local.array(VECTOR, float32)
    high = cuda.local.array(VECTOR, float32)
    words = cuda.local.array(4, uint32)
    load_global_v4_f32(low, source)
    load_global_v4_f32(high, source + 16)
    for word in range(2):
        words[word] = pack_f16x2(low[2 * word], low[2 * word + 1])
        words[2 + word] = pack_f16x2(high[2 * word], high[2 * word + 1])
    store_global_v4(destination, words)
