"""Kernel: the immutable description of one specialisation, before any compiler or device."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from playground.errors import Refusal
from playground.kernels.contract import Contract
from playground.kernels.layout import SharedLayout


@dataclass(frozen=True)
class Kernel:
    """A Python function with its launch geometry.

    function: takes the address of each tensor (int64), then each dimension (int32), in the contract's order.
    grid: from the dimensions to (x, y, z). layout: the dynamic shared memory. minimum_cc: what its instructions need.
    alignment: bytes that the addresses of its tensors must be multiples of, where it accesses vectors. min_blocks:
    blocks per SM that the compiler must leave registers for. period: per dimension, after how much of it the kernel
    does the same again (a tile, an unrolled loop, a line of memory): what its counts are extrapolated by.
    """

    name: str
    contract: Contract
    function: Callable
    threads: int
    grid: Callable[..., tuple[int, int, int]]
    parameters: Mapping[str, int | str] = field(default_factory=dict)
    layout: SharedLayout = field(default_factory=SharedLayout)
    minimum_cc: tuple[int, int] = (7, 5)
    alignment: int = 1
    min_blocks: int = 1
    period: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value}' for name, value in self.parameters.items())})"

    def check_addresses(self, addresses: Sequence[int]) -> None:
        """Refuse a tensor that lies where its elements, or the vectors that this kernel takes them in, cannot."""
        for tensor, address in zip(self.contract.tensors, addresses):
            needed = max(self.alignment, np.dtype(tensor.dtype).itemsize)
            if address % needed:
                raise Refusal(f"{self}: {tensor.name} is at {address:#x}, which is not a multiple of {needed} bytes")
