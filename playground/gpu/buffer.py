"""Device memory for one array, with guards that tell if somebody wrote beside it."""

import weakref

import numpy as np
from cuda.bindings import driver

from playground.errors import Refusal
from playground.gpu.device import Device
from playground.gpu.driver import call
from playground.runner import POISON

GUARD = 4096


class Buffer:
    """Device memory for one array, with a poisoned guard of 4 KiB before and behind it."""

    def __init__(self, device: Device, shape: tuple[int, ...], dtype):
        self.device, self.shape, self.dtype = device, shape, np.dtype(dtype)
        self.bytes = int(np.prod(shape)) * self.dtype.itemsize
        needed, free = self.bytes + 2 * GUARD, device.free_memory()
        if needed > free:
            raise Refusal(f"{device.name}: {needed:,} bytes needed for an array of shape {shape}, {free:,} are free")
        self.base = call(driver.cuMemAlloc, needed)
        self.address = int(self.base) + GUARD
        self.free = weakref.finalize(self, call, driver.cuMemFree, self.base)  # at the latest when nobody holds it
        self.free.atexit = False
        self.poison()

    def poison(self) -> None:
        """Fill array and guards with bytes 0xFF: floats become NaN."""
        call(driver.cuMemsetD8Async, self.base, POISON, self.bytes + 2 * GUARD, self.device.stream)

    def upload(self, array: np.ndarray) -> None:
        """Overwrite the first elements, which are there when this returns.

        By the stream, and waited for: cuMemcpyHtoD returns when the array is staged, and the rest of its way overtook
        what a kernel launched right after it had written.
        """
        array = np.ascontiguousarray(array)
        call(driver.cuMemcpyHtoDAsync, self.address, array.ctypes.data, array.nbytes, self.device.stream)
        self.device.synchronize()

    def copy_from(self, other: "Buffer") -> None:
        call(driver.cuMemcpyDtoDAsync, self.address, other.address, self.bytes, self.device.stream)

    def download(self) -> np.ndarray:
        self.device.synchronize()
        array = np.empty(self.shape, self.dtype)
        call(driver.cuMemcpyDtoH, array.ctypes.data, self.address, self.bytes)
        return array

    def overrun(self) -> int:
        """Bytes of the guards that are no longer poison: somebody wrote outside the array."""
        self.device.synchronize()
        guards = np.empty(2 * GUARD, np.uint8)
        call(driver.cuMemcpyDtoH, guards.ctypes.data, self.base, GUARD)
        call(driver.cuMemcpyDtoH, guards.ctypes.data + GUARD, self.address + self.bytes, GUARD)
        return int(np.count_nonzero(guards != POISON))
