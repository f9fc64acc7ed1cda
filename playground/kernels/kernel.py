"""Kernel: the immutable description of one specialisation, before any compiler or device."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from playground.errors import Refusal
from playground.kernels.contract import Contract, Tensor
from playground.kernels.layout import SharedLayout
from playground.kernels.parameters import check_whole


@dataclass(frozen=True)
class Kernel:
    """A Python function with its launch geometry.

    function: takes the address of each tensor (int64), then each dimension (int32), in the contract's order.
    grid: from the dimensions to (x, y, z). layout: the dynamic shared memory. minimum_cc: what its instructions need.
    alignment: by tensor, the bytes that its address must be a multiple of, where it is accessed in vectors. min_blocks:
    blocks per SM that the compiler must leave registers for. period: per dimension, after how much of it the kernel
    does the same again (a tile, an unrolled loop, a line of memory): what its counts are extrapolated by.
    blocks_per_sm: see `pinned`.
    """

    name: str
    contract: Contract
    function: Callable
    threads: int
    grid: Callable[..., tuple[int, int, int]]
    parameters: Mapping[str, int | str] = field(default_factory=dict)
    layout: SharedLayout = field(default_factory=SharedLayout)
    minimum_cc: tuple[int, int] = (7, 5)
    alignment: Mapping[str, int] = field(default_factory=dict)
    min_blocks: int = 1
    period: Mapping[str, int] = field(default_factory=dict)
    blocks_per_sm: int | None = None

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value}' for name, value in self.described.items())})"

    @property
    def described(self) -> dict[str, int | str]:
        """The parameters, and the pin if there is one: what tells this kernel from others of its name."""
        return {**self.parameters, **({"blocks_per_sm": self.blocks_per_sm} if self.blocks_per_sm else {})}

    @property
    def steps(self) -> "tuple[Step]":
        """What a launch of it is: itself, on the contract's own tensors and dimensions."""
        return (Step(self),)

    @property
    def temporaries(self) -> tuple[Tensor, ...]:
        """It needs none."""
        return ()

    def check_addresses(self, addresses: Sequence[int]) -> None:
        """Refuse a tensor that lies where its elements, or the vectors that this kernel takes them in, cannot."""
        for tensor, address in zip(self.contract.tensors, addresses):
            needed = max(self.alignment.get(tensor.name, 1), np.dtype(tensor.dtype).itemsize)
            if address % needed:
                raise Refusal(f"{self}: {tensor.name} is at {address:#x}, which is not a multiple of {needed} bytes")


def pinned(kernel: Kernel, blocks: int) -> Kernel:
    """The same kernel with exactly `blocks` blocks on each SM, held there by dynamic shared memory that nobody touches.

    The build computes how many bytes that takes, and refuses what other limits stop short of. The machine code is the
    same; what else a pin takes is L1 cache, which shares the memory.
    """
    if not isinstance(kernel, Kernel):
        raise Refusal(f"pinned: {kernel} is not one kernel: pin its steps")
    check_whole("pinned", blocks=blocks)
    if blocks < 1:
        raise Refusal(f"pinned: blocks = {blocks} is not 1 or more")
    return replace(kernel, blocks_per_sm=blocks)


@dataclass(frozen=True)
class Step:
    """One launch of a kernel inside a whole that has tensors and dimensions of its own.

    bound: the whole's name for each of the kernel's tensors, where that differs. derived: the kernel's dimensions from
    the whole's, where they differ.
    """

    kernel: Kernel
    bound: Mapping[str, str] = field(default_factory=dict)
    derived: Callable[..., Mapping[str, int]] | None = None

    def __post_init__(self):
        own = [tensor.name for tensor in self.kernel.contract.tensors]
        if unknown := self.bound.keys() - own:
            raise Refusal(f"{self.kernel} has no {', '.join(unknown)} to bind: its tensors are {', '.join(own)}")

    @property
    def tensors(self) -> tuple[str, ...]:
        """The whole's names of the kernel's tensors, in the kernel's order."""
        return tuple(self.bound.get(tensor.name, tensor.name) for tensor in self.kernel.contract.tensors)

    def dimensions(self, dims: Mapping[str, int]) -> Mapping[str, int]:
        """The kernel's dimensions, checked."""
        own = self.derived(**dims) if self.derived else dims
        self.kernel.contract.check_dimensions(own)
        return own
