"""Fills a matrix with random values on the device: a model's weights need not cross the bus."""

import math

from numba import cuda
from numba.cuda import types

from playground.kernels.contract import Contract, Tensor
from playground.kernels.elementwise.geometry import THREADS, flat_grid
from playground.kernels.kernel import Kernel
from playground.ptx.convert import to_f16
from playground.ptx.device_function import device_function
from playground.ptx.memory import store_global_u16
from playground.ptx.special_function import reciprocal_root

HALF = 2
STEP = 2.0**-23
SQRT_3 = math.sqrt(3)

float32, int32, uint32 = types.float32, types.int32, types.uint32

RANDOM_F16 = Contract(
    name="random_f16",
    tensors=(Tensor("W", "float16", ("od", "id"), written=True),),
    dimensions=("od", "id", "seed"),
    complaint=lambda od, id, seed: f"od · id = {od * id} is over {2**31 - 1}" if od * id >= 2**31 else None,
    rate="GB/s",
)


def random_f16() -> Kernel:
    """W[od, id] f16, uniform with mean 0 and variance 1/id, a function of seed and index alone.

    A matrix of such values keeps the size of what it multiplies: activations stay far inside f16 through any depth.
    """

    def random_f16(W, od, id, seed):
        element = cuda.blockIdx.x * THREADS + cuda.threadIdx.x
        if element < od * id:
            bits = scrambled(uint32(element) ^ scrambled(uint32(seed)))
            between = float32(int32(bits >> uint32(8)) - 2**23) * float32(STEP)
            store_global_u16(W + element * HALF, to_f16(between * float32(SQRT_3) * reciprocal_root(float32(id))))

    return Kernel(
        name="random_f16",
        contract=RANDOM_F16,
        function=random_f16,
        threads=THREADS,
        grid=lambda od, id, seed: flat_grid(od * id, THREADS),
    )


@device_function
def scrambled(bits):
    """32 bits to 32 others, none twice: the finaliser of MurmurHash3."""
    bits = uint32(bits ^ (bits >> uint32(16)))
    bits = uint32(bits * uint32(0x85EBCA6B))
    bits = uint32(bits ^ (bits >> uint32(13)))
    bits = uint32(bits * uint32(0xC2B2AE35))
    return uint32(bits ^ (bits >> uint32(16)))
