"""Numba: a Python function to PTX. The only place that asks numba-cuda to compile."""

from types import SimpleNamespace
from unittest import mock

from numba import cuda
from numba.cuda import types


def to_ptx(function, signature, cc: tuple[int, int], threads: int, min_blocks: int = 1, fastmath: bool = False) -> str:
    """PTX of a kernel, with line information. `signature`: a tuple of Numba types. cc: compute capability."""
    with mock.patch("numba.cuda.dispatcher.get_current_device", lambda: SimpleNamespace(compute_capability=cc)):
        # Numba asks the current device for the architecture of device functions, even where the kernel names it.
        ptx, _ = cuda.compile(
            function,
            types.void(*signature),
            device=False,
            abi="numba",
            cc=cc,
            lineinfo=True,
            launch_bounds=(threads, min_blocks),
            fastmath=fastmath,
        )
    return ptx


def address_signature(tensors: int, dimensions: int):
    """The signature of a project kernel: the tensors' addresses, then the dimensions."""
    return (types.int64,) * tensors + (types.int32,) * dimensions
