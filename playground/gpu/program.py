"""A Build loaded on a device: ready to launch, its limits checked before."""

import ctypes

from cuda.bindings import driver

from playground.compiler.build import Build
from playground.gpu.device import Device
from playground.gpu.driver import call

FUNCTION_ATTRIBUTE = driver.CUfunction_attribute
DYNAMIC_SHARED_WITHOUT_OPT_IN = 48 * 1024


class Program:
    """The cubin of `build` in `device`'s context. A layout over the device's limit was refused by `build` already."""

    def __init__(self, build: Build, device: Device):
        self.build, self.kernel, self.device = build, build.kernel, device
        self.module = call(driver.cuModuleLoadData, build.cubin)
        self.function = call(driver.cuModuleGetFunction, self.module, build.entry.encode())
        if build.dynamic_shared > DYNAMIC_SHARED_WITHOUT_OPT_IN:
            attribute = FUNCTION_ATTRIBUTE.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            call(driver.cuFuncSetAttribute, self.function, attribute, build.dynamic_shared)

    def launcher(self, addresses: list[int], dims: dict[str, int]):
        """A function that enqueues one launch on the device's stream; arguments are packed here, once."""
        contract, kernel = self.kernel.contract, self.kernel
        kernel.check_addresses(addresses)
        pointers, keep = _pack(addresses, [dims[name] for name in contract.dimensions])
        grid, block = kernel.grid(**dims), (kernel.threads, 1, 1)
        arguments = ctypes.addressof(pointers)

        def launch(_alive=(pointers, keep)):
            call(
                driver.cuLaunchKernel,
                self.function,
                *grid,
                *block,
                self.build.dynamic_shared,
                self.device.stream,
                arguments,
                0,
            )

        return launch

    def resident_blocks(self) -> int:
        """Blocks per SM as the driver computes them."""
        return call(
            driver.cuOccupancyMaxActiveBlocksPerMultiprocessor,
            self.function,
            self.kernel.threads,
            self.build.dynamic_shared,
        )


def _pack(addresses: list[int], dimensions: list[int]):
    """Kernel parameters as the driver wants them: addresses as 64-bit, dimensions as 32-bit integers."""
    values = [ctypes.c_int64(address) for address in addresses] + [ctypes.c_int32(length) for length in dimensions]
    pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
    return pointers, values
