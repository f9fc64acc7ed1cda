"""One thread that loads where to load next, past L1: nothing to do but wait."""

from numba import cuda
from numba.cuda import types

from playground.kernels.contract import Contract, Tensor
from playground.kernels.kernel import Kernel
from playground.kernels.rates.per_sm import WORD
from playground.kernels.rates.stamps import begin, end, stamps_tensor
from playground.ptx.memory import load_global_cg_u32, load_global_s32, load_global_u32, store_global_u32

int64 = types.int64

POINTER_CHASE = Contract(
    name="rates_pointer_chase",
    tensors=(
        Tensor("following", "uint32", ("n",)),
        Tensor("start", "uint32", (1,)),
        Tensor("loads", "int32", (1,)),
        Tensor("out", "uint32", (1,), written=True),
        stamps_tensor(1, 1),
    ),
    dimensions=("n",),
)


def pointer_chase() -> Kernel:
    """out = where `loads` steps from `start` lead, when following[place] [n] u32 is the place after it."""

    def pointer_chase(following, start, loads, out, stamps, n):
        place = load_global_u32(start)
        times = load_global_s32(loads)
        taken = cuda.local.array(2, int64)
        begin(taken)
        for _ in range(times):
            place = load_global_cg_u32(following + int64(place) * WORD)
        end(taken, stamps)
        store_global_u32(out, place)

    return Kernel(
        name="pointer_chase",
        contract=POINTER_CHASE,
        function=pointer_chase,
        threads=1,
        grid=lambda n: (1, 1, 1),
    )
