"""swiglu: out[n] = gate · sigmoid(gate) · up, the activation between the feed-forward's GEMMs. Source: seed 000, §5."""

import math

from numba import cuda
from numba.cuda import types

from playground.kernels.contract import Contract, Tensor
from playground.kernels.elementwise.geometry import THREADS, flat_grid
from playground.kernels.kernel import Kernel
from playground.kernels.parameters import check_choice
from playground.ptx.device_function import device_function
from playground.ptx.exponential import exp2
from playground.ptx.memory import load_global_f32, load_global_v4_f32, store_global_f32, store_global_v4_f32
from playground.ptx.special_function import reciprocal

FLOAT, VECTOR = 4, 4

float32 = types.float32
LOG2_E = float32(math.log2(math.e))

SWIGLU = Contract(
    name="swiglu",
    tensors=(
        Tensor("gate", "float32", ("n",)),
        Tensor("up", "float32", ("n",)),
        Tensor("out", "float32", ("n",), written=True),
    ),
    dimensions=("n",),
    emulated=({"n": 1003}, {"n": 4096}),
    rate="GB/s",
)


def swiglu(per_lane: int = 4) -> Kernel:
    """out[n] f32 = gate / (1 + e^-gate) · up, all f32; any n: the lane at the end does what is left one by one.

    per_lane: elements per thread, 1 or 4 (16-byte loads and stores).
    """
    check_choice("swiglu", "per_lane", per_lane, (1, VECTOR))

    def swiglu(gate, up, out, n):
        first = (cuda.blockIdx.x * THREADS + cuda.threadIdx.x) * per_lane
        if per_lane == VECTOR and first + VECTOR <= n:
            four(gate + first * FLOAT, up + first * FLOAT, out + first * FLOAT)
        else:
            for element in range(first, first + per_lane):
                if element < n:
                    at = element * FLOAT
                    store_global_f32(out + at, gated(load_global_f32(gate + at), load_global_f32(up + at)))

    return Kernel(
        name="swiglu",
        parameters={"per_lane": per_lane},
        contract=SWIGLU,
        function=swiglu,
        threads=THREADS,
        grid=lambda n: flat_grid(n, THREADS * per_lane),
        alignment={} if per_lane == 1 else dict.fromkeys(("gate", "up", "out"), VECTOR * FLOAT),
        period={"n": THREADS * per_lane},
    )


@device_function
def gated(gate, up):
    """gate · sigmoid(gate) · up."""
    return gate * reciprocal(float32(1) + exp2(-gate * LOG2_E)) * up


@device_function
def four(gate, up, out):
    """Four elements: twice 16 bytes in, 16 out."""
    gates = cuda.local.array(VECTOR, float32)
    ups = cuda.local.array(VECTOR, float32)
    load_global_v4_f32(gates, gate)
    load_global_v4_f32(ups, up)
    for i in range(VECTOR):
        gates[i] = gated(gates[i], ups[i])
    store_global_v4_f32(out, gates)
