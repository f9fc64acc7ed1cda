"""What all kernels have in common that measure a rate of the SM: one block per SM, a loop as long as memory says.

The number of repetitions is read from memory, so that the compiler knows nothing of it. x gives every thread a start of
its own, so that no work is the same for two lanes and could move to the uniform registers.
"""

from collections.abc import Callable, Mapping

from playground.kernels.contract import Contract, Tensor
from playground.kernels.kernel import Kernel
from playground.kernels.layout import SharedLayout
from playground.kernels.rates.stamps import stamps_tensor

THREADS, WARPS = 512, 16
"""Four warps for each of the four schedulers, and 128 registers for each thread."""
WORD = 4


def per_sm_kernel(
    function: Callable,
    dtype: str,
    parameters: Mapping[str, int | str],
    layout: SharedLayout | None = None,
    minimum_cc: tuple[int, int] = (7, 5),
) -> Kernel:
    """The description of function(x, repetitions, out, stamps, blocks); dtype: of x and out [blocks, 512]."""
    name = function.__name__
    contract = Contract(
        name=f"rates_{name}",
        tensors=(
            Tensor("x", dtype, ("blocks", THREADS)),
            Tensor("repetitions", "int32", (1,)),
            Tensor("out", dtype, ("blocks", THREADS), written=True),
            stamps_tensor("blocks", WARPS),
        ),
        dimensions=("blocks",),
    )
    return Kernel(
        name=name,
        contract=contract,
        function=function,
        threads=THREADS,
        grid=lambda blocks: (blocks, 1, 1),
        parameters=parameters,
        layout=layout or SharedLayout(),
        minimum_cc=minimum_cc,
    )
