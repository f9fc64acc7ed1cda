"""Arrays that many launches share, on a device: the same few methods as emulator/arrays.py."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from playground.compiler.build import Build
from playground.errors import Refusal
from playground.gpu.buffer import Buffer
from playground.gpu.device import Device
from playground.gpu.program import Program


@dataclass(frozen=True)
class Row:
    """One row of a Buffer, which it keeps alive."""

    address: int
    buffer: Buffer


class DeviceArrays:
    """Handles are Buffers and rows of them. Launches are enqueued on the device's stream, each build loaded once."""

    def __init__(self, device: Device):
        self.device, self.arch = device, device.arch
        self.programs: dict[int, Program] = {}

    def place(self, array) -> Buffer:
        """The array's handle: a copy on the device, or what is there already."""
        if isinstance(array, Buffer):
            return array
        buffer = Buffer(self.device, array.shape, array.dtype)
        buffer.upload(array)
        return buffer

    def allocate(self, shape: tuple[int, ...], dtype) -> Buffer:
        """A handle of poisoned memory: floats are NaN until they are written."""
        return Buffer(self.device, shape, dtype)

    def write(self, handle: Buffer, array: np.ndarray) -> None:
        """Overwrite the handle's first elements, when all launches before have ended."""
        handle.upload(array)

    def read(self, handle: Buffer) -> np.ndarray:
        """A copy of what the handle holds, when all launches before have ended."""
        return handle.download()

    def row(self, handle: Buffer, index: int) -> Row:
        """A handle of one row, still a matrix."""
        return Row(handle.address + index * (handle.bytes // handle.shape[0]), handle)

    def launch(self, build: Build, tensors: Sequence[Buffer | Row], dims: Mapping[str, int]) -> None:
        """Enqueue the build on the tensors, which may be larger than `dims` say, and the same one more than once."""
        self.launcher(build, tensors, dims)()

    def launcher(self, build: Build, tensors: Sequence[Buffer | Row], dims: Mapping[str, int]) -> Callable[[], None]:
        """A function that enqueues this launch; its arguments are checked and packed here, once."""
        build.kernel.contract.check_dimensions(dims)
        if id(build) not in self.programs:  # not by the cubin, which a pinned kernel shares
            self.programs[id(build)] = Program(build, self.device)
        return self.programs[id(build)].launcher([tensor.address for tensor in tensors], dims)

    def require(self, needed: int, what: str) -> None:
        """Refuse what does not fit into the memory that is free."""
        free = self.device.free_memory()
        if needed > free:
            raise Refusal(f"{self.device.name}: {what}: {needed:,} bytes needed, {free:,} are free")
