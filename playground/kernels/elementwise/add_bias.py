"""add_bias: Y[t] = X[t] + bias, behind the q, k and v projections of Qwen2.5."""

from numba import cuda

from playground.kernels.contract import Contract, Tensor
from playground.kernels.elementwise.geometry import THREADS, row_grid, too_long
from playground.kernels.kernel import Kernel
from playground.ptx.memory import load_global_f32, store_global_f32

FLOAT = 4

ADD_BIAS = Contract(
    name="add_bias",
    tensors=(
        Tensor("X", "float32", ("nt", "od")),
        Tensor("bias", "float32", ("od",)),
        Tensor("Y", "float32", ("nt", "od"), written=True),
    ),
    dimensions=("nt", "od"),
    emulated=({"nt": 3, "od": 257}, {"nt": 8, "od": 512}),
    complaint=lambda nt, od: too_long(THREADS, od=od),
    rate="GB/s",
)


def add_bias() -> Kernel:
    """Y[nt, od] = X[nt, od] + bias[od], all f32; X and Y may be the same array."""

    def add_bias(X, bias, Y, nt, od):
        column = cuda.blockIdx.y * THREADS + cuda.threadIdx.x
        if column < od:
            at = (cuda.blockIdx.x * od + column) * FLOAT
            store_global_f32(Y + at, load_global_f32(X + at) + load_global_f32(bias + column * FLOAT))

    return Kernel(
        name="add_bias",
        contract=ADD_BIAS,
        function=add_bias,
        threads=THREADS,
        grid=lambda nt, od: row_grid(nt, od, THREADS),
        period={"nt": 8, "od": THREADS},
    )
