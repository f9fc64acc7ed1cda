"""rms_norm: Y[t] = X[t] · W / √(mean(X[t]²) + ε), the norm of Qwen2.5, with ε = 1e-6."""

from functools import cache

from numba import cuda
from numba.cuda import types

from playground.kernels.contract import Contract, Tensor
from playground.kernels.elementwise.geometry import THREADS
from playground.kernels.kernel import Kernel
from playground.kernels.layout import ALIGNMENT, Region, SharedLayout
from playground.kernels.parameters import check_choice
from playground.ptx.convert import to_f16
from playground.ptx.device_function import device_function
from playground.ptx.memory import (
    load_global_f32,
    load_shared_f32,
    shared_address,
    store_global_f32,
    store_global_u16,
    store_shared_f32,
)
from playground.ptx.shuffle import butterfly
from playground.ptx.special_function import reciprocal, reciprocal_root

EPSILON = 1e-6
FLOAT, HALF = 4, 2
WARPS = THREADS // 32
DTYPES = {"f32": "float32", "f16": "float16"}

float32, uint8 = types.float32, types.uint8


@cache
def rms_norm_contract(out: str) -> Contract:
    """X: [nt, id] f32. W: [id] f32. Y: [nt, id], f32 or f16."""
    return Contract(
        name=f"rms_norm_{out}",
        tensors=(
            Tensor("X", "float32", ("nt", "id")),
            Tensor("W", "float32", ("id",)),
            Tensor("Y", DTYPES[out], ("nt", "id"), written=True),
        ),
        dimensions=("nt", "id"),
        emulated=({"nt": 3, "id": 999}, {"nt": 8, "id": 1024}),
        rate="GB/s",
    )


def rms_norm(out: str = "f32") -> Kernel:
    """Y[nt, id] = X · W / √(mean(X²) + 1e-6) by rows, X and W f32; one block per row, which it reads twice.

    out: "f32" or "f16", what Y is.
    """
    check_choice("rms_norm", "out", out, tuple(DTYPES))
    layout = SharedLayout(Region("sums", (WARPS,), FLOAT))
    SUMS = layout["sums"].offset
    store, itemsize = {"f32": (store_global_f32, FLOAT), "f16": (store_rounded, HALF)}[out]

    def rms_norm(X, W, Y, nt, id):
        shared = shared_address(cuda.shared.array(0, uint8, alignment=ALIGNMENT))
        row = cuda.blockIdx.x * id
        source = X + row * FLOAT
        squares = float32(0)
        for column in range(cuda.threadIdx.x, id, THREADS):
            value = load_global_f32(source + column * FLOAT)
            squares += value * value
        mean = block_sum(squares, shared + SUMS) * reciprocal(float32(id))
        factor = reciprocal_root(mean + float32(EPSILON))
        for column in range(cuda.threadIdx.x, id, THREADS):
            value = load_global_f32(source + column * FLOAT) * factor
            store(Y + (row + column) * itemsize, value * load_global_f32(W + column * FLOAT))

    return Kernel(
        name="rms_norm",
        parameters={"out": out},
        contract=rms_norm_contract(out),
        function=rms_norm,
        threads=THREADS,
        grid=lambda nt, id: (nt, 1, 1),
        layout=layout,
        period={"nt": 8, "id": 4 * THREADS},
    )


@device_function
def store_rounded(address, value):
    """As f16."""
    store_global_u16(address, to_f16(value))


@device_function
def block_sum(value, sums):
    """The sum of all threads' values, in every thread; `sums`: room for one f32 per warp in shared memory."""
    for mask in range(5):
        value += butterfly(value, 16 >> mask)
    store_shared_f32(sums + (cuda.threadIdx.x >> 5) * FLOAT, value)  # all lanes of a warp the same value
    cuda.syncthreads()
    total = float32(0)
    for warp in range(WARPS):
        total += load_shared_f32(sums + warp * FLOAT)
    return total
