"""Arrays that many launches share, in emulated memory: the same few methods as gpu/arrays.py."""

import os
from collections.abc import Mapping, Sequence

import numpy as np

from playground.compiler.arch import Arch
from playground.compiler.build import Build
from playground.emulator.global_memory import GlobalMemory
from playground.emulator.hazards import Hazard
from playground.emulator.launch import Report, launch
from playground.errors import Refusal
from playground.runner import POISON


class EmulatedArrays:
    """Handles are NumPy arrays. `hazards`: those of every launch so far."""

    def __init__(self, arch: Arch):
        self.arch = arch
        self.hazards: list[Hazard] = []

    def place(self, array: np.ndarray) -> np.ndarray:
        """The array's handle."""
        return np.ascontiguousarray(array)

    def allocate(self, shape: tuple[int, ...], dtype) -> np.ndarray:
        """A handle of poisoned memory: floats are NaN until they are written."""
        return poisoned(shape, dtype)

    def write(self, handle: np.ndarray, array: np.ndarray) -> None:
        """Overwrite the handle's first elements."""
        handle.reshape(-1)[: array.size] = array.reshape(-1)

    def read(self, handle: np.ndarray) -> np.ndarray:
        """A copy of what the handle holds."""
        return handle.copy()

    def row(self, handle: np.ndarray, index: int) -> np.ndarray:
        """A handle of one row, still a matrix."""
        return handle[index : index + 1]

    def launch(self, build: Build, tensors: Sequence[np.ndarray], dims: Mapping[str, int]) -> None:
        """Run the build on the tensors, which may be larger than `dims` say, and the same one more than once."""
        build.kernel.contract.check_dimensions(dims)
        memory, distinct = GlobalMemory(), {id(tensor): tensor for tensor in tensors}
        address_of = {key: memory.place(tensor) for key, tensor in distinct.items()}
        report = emulate_in(memory, build, [address_of[id(tensor)] for tensor in tensors], dims)
        for tensor, after in zip(distinct.values(), report.outputs):
            tensor[...] = after
        self.hazards += report.hazards

    def require(self, needed: int, what: str) -> None:
        """Refuse what does not fit into the memory that is free."""
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if needed > free:
            raise Refusal(f"{what}: {needed:,} bytes needed to emulate it, {free:,} are free")


def emulate_in(
    memory: GlobalMemory, build: Build, addresses: Sequence[int], dims: Mapping[str, int], checks: bool = True
) -> Report:
    """Execute the build's PTX on tensors in `memory`; the report tells of every array there. checks: as in launch."""
    kernel = build.kernel
    kernel.check_addresses(addresses)
    parameters = [*addresses, *(dims[name] for name in kernel.contract.dimensions)]
    grid, shared = kernel.grid(**dims), build.dynamic_shared
    return launch(build.ptx, grid, kernel.threads, parameters, memory, shared, checks=checks)


def poisoned(shape: tuple[int, ...], dtype) -> np.ndarray:
    """An array whose every byte is 0xFF: as f16, f32 or f64 it is NaN."""
    array = np.empty(shape, dtype)
    array.view(np.uint8).fill(POISON)
    return array
