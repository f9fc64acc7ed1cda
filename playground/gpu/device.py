"""The device at hand: its limits as the driver tells them, its context, its memory."""

import ctypes
import re

import numpy as np
from cuda.bindings import driver

from playground.compiler.arch import Arch
from playground.errors import Refusal
from playground.gpu.driver import DriverError, call

ATTRIBUTE = driver.CUdevice_attribute
GUARD = 4096
POISON = 0xFF  # as f16, f32 or f64: NaN


class Device:
    """Device `ordinal` with its primary context made current, which torch and Numba share."""

    def __init__(self, ordinal: int = 0):
        call(driver.cuInit, 0)
        self.ordinal = ordinal
        self.handle = call(driver.cuDeviceGet, ordinal)
        call(driver.cuCtxSetCurrent, call(driver.cuDevicePrimaryCtxRetain, self.handle))
        self.stream = call(driver.cuStreamCreate, driver.CUstream_flags.CU_STREAM_NON_BLOCKING)
        self.name = call(driver.cuDeviceGetName, 128, self.handle).split(b"\0")[0].decode()
        self.pci_bus_id = call(driver.cuDeviceGetPCIBusId, 32, self.handle).split(b"\0")[0].decode()
        self.driver_version = call(driver.cuDriverGetVersion)
        self.sms = self._attribute("MULTIPROCESSOR_COUNT")
        self.l2 = self._attribute("L2_CACHE_SIZE")
        self.arch = Arch(
            cc=(self._attribute("COMPUTE_CAPABILITY_MAJOR"), self._attribute("COMPUTE_CAPABILITY_MINOR")),
            threads_per_sm=self._attribute("MAX_THREADS_PER_MULTIPROCESSOR"),
            blocks_per_sm=self._attribute("MAX_BLOCKS_PER_MULTIPROCESSOR"),
            shared_per_sm=self._attribute("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"),
            shared_per_block=self._attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
            reserved=self._attribute("RESERVED_SHARED_MEMORY_PER_BLOCK"),
        )

    @property
    def slug(self) -> str:
        """The name as a folder name: nvidia-h200."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")

    def synchronize(self) -> None:
        """Wait for the stream; an error of any kernel in it surfaces here."""
        call(driver.cuStreamSynchronize, self.stream)

    def free_memory(self) -> int:
        return call(driver.cuMemGetInfo)[0]

    def _attribute(self, name: str) -> int:
        return call(driver.cuDeviceGetAttribute, getattr(ATTRIBUTE, f"CU_DEVICE_ATTRIBUTE_{name}"), self.handle)


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
        self.poison()

    def poison(self) -> None:
        """Fill array and guards with bytes 0xFF: floats become NaN."""
        call(driver.cuMemsetD8Async, self.base, POISON, self.bytes + 2 * GUARD, self.device.stream)

    def upload(self, array: np.ndarray) -> None:
        self.device.synchronize()
        call(driver.cuMemcpyHtoD, self.address, np.ascontiguousarray(array).ctypes.data, self.bytes)

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

    def free(self) -> None:
        call(driver.cuMemFree, self.base)


def open_device() -> Device:
    """The first device, or a Refusal that says why there is none."""
    try:
        return Device()
    except (RuntimeError, DriverError) as error:
        raise Refusal(f"no GPU: {' '.join(str(error).split())}") from error


def pack(addresses: list[int], dimensions: list[int]):
    """Kernel parameters as the driver wants them: addresses as 64-bit, dimensions as 32-bit integers."""
    values = [ctypes.c_int64(address) for address in addresses] + [ctypes.c_int32(length) for length in dimensions]
    pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
    return pointers, values
