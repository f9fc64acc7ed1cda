"""Kernel: the immutable description of one specialisation, before any compiler or device."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from playground.kernels.contract import Contract
from playground.kernels.layout import SharedLayout


@dataclass(frozen=True)
class Kernel:
    """A Python function with its launch geometry.

    function: takes the address of each tensor (int64), then each dimension (int32), in the contract's order.
    grid: from the dimensions to (x, y, z). layout: the dynamic shared memory. minimum_cc: what its instructions need.
    """

    name: str
    parameters: Mapping[str, int]
    contract: Contract
    function: Callable
    threads: int
    grid: Callable[..., tuple[int, int, int]]
    layout: SharedLayout
    minimum_cc: tuple[int, int]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value}' for name, value in self.parameters.items())})"
