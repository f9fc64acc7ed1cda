"""The yardstick of kernels that only move bytes: a device-to-device copy of as many, timed beside them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from playground.gpu.buffer import Buffer
from playground.gpu.device import Device
from playground.measure import parity
from playground.measure.parity import Parity
from playground.measure.references import Expected
from playground.runner import Outcome

NAME = "device-to-device copy"
FLOAT = 4
SEED = 1


class PlainCopy:
    """Reads half of `traffic` bytes and writes the other half (cuMemcpyDtoDAsync). `with` frees its two arrays."""

    def __init__(self, device: Device, traffic: int):
        self.device = device
        self.values = np.random.default_rng(SEED).standard_normal(-(-traffic // (2 * FLOAT)), np.float32)
        self.source, self.destination = (Buffer(device, self.values.shape, "float32") for _ in range(2))
        self.source.upload(self.values)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.source.free()
        self.destination.free()

    def launch(self) -> None:
        """Enqueue one copy."""
        self.destination.copy_from(self.source)

    def check(self) -> Parity:
        """Copy once and compare to the bit."""
        self.destination.poison()
        self.launch()
        expected = Expected(self.values, np.full(self.values.shape, 2.0**-150), "to the bit: a copy")
        return parity.check(Outcome({NAME: self.destination.download()}, self.destination.overrun()), {NAME: expected})


@contextmanager
def copy_beside(device: Device, work: Mapping) -> Iterator[dict[str, PlainCopy]]:
    """Name -> a copy of as many bytes as the `work` of a shape's record, if its speed is told in GB/s; else nothing."""
    if work["unit"] != "GB/s":
        yield {}
        return
    with PlainCopy(device, work["bytes"]) as copy:
        yield {NAME: copy}
