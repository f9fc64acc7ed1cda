"""The device at hand: its context, and its limits as the driver tells them."""

import re

from cuda.bindings import driver

from playground.compiler.arch import Arch
from playground.errors import Refusal
from playground.gpu.driver import DriverError, call

ATTRIBUTE = driver.CUdevice_attribute


class Device:
    """Device `ordinal` with its primary context made current, which torch and Numba share."""

    def __init__(self, ordinal: int = 0):
        call(driver.cuInit, 0)
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


def open_device() -> Device:
    """The first device, or a Refusal that says why there is none."""
    try:
        return Device()
    except (RuntimeError, DriverError) as error:
        raise Refusal(f"no GPU: {' '.join(str(error).split())}") from error
