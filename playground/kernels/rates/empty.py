"""A kernel that does nothing: what is left of its time is the launch."""

from playground.kernels.contract import Contract
from playground.kernels.kernel import Kernel


def empty() -> Kernel:
    """One block of 32 threads without a statement."""

    def empty():
        pass

    contract = Contract(name="rates_empty", tensors=(), dimensions=())
    return Kernel(name="empty", contract=contract, function=empty, threads=32, grid=lambda: (1, 1, 1))
