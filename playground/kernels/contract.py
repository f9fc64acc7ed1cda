"""What a kernel computes, apart from how: its arguments, the shapes they admit, and the work that a shape takes.

Two kernels with the same contract can be compared: they run on the same arrays and answer to the same reference.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from playground.errors import Refusal


@dataclass(frozen=True)
class Tensor:
    """A C-contiguous array argument; `shape` names dimensions. Numba sees its address (int64)."""

    name: str
    dtype: str
    shape: tuple[str, ...]
    written: bool = False


@dataclass(frozen=True)
class Contract:
    """The arguments of a kernel: its tensors in order, then its dimensions (int32) in order."""

    name: str
    tensors: tuple[Tensor, ...]
    dimensions: tuple[str, ...]
    multiples: Mapping[str, int]
    flop: Callable[..., int]

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return tuple(tensor for tensor in self.tensors if not tensor.written)

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        return tuple(tensor for tensor in self.tensors if tensor.written)

    def shape_of(self, tensor: Tensor, dims: Mapping[str, int]) -> tuple[int, ...]:
        return tuple(dims[name] for name in tensor.shape)

    def bytes_of(self, tensor: Tensor, dims: Mapping[str, int]) -> int:
        return math.prod(self.shape_of(tensor, dims)) * np.dtype(tensor.dtype).itemsize

    def check_dimensions(self, dims: Mapping[str, int]) -> None:
        """Refuse dimensions that are empty, too long for int32, or not the multiple that the kernels need."""
        for name in self.dimensions:
            if not 0 < dims[name] < 2**31:
                raise Refusal(f"{self.name}: {name} = {dims[name]} is not between 1 and {2**31 - 1}")
            if dims[name] % self.multiples.get(name, 1):
                raise Refusal(f"{self.name}: {name} = {dims[name]} is not a multiple of {self.multiples[name]}")

    def dimensions_of(self, arrays: Mapping[str, np.ndarray]) -> dict[str, int]:
        """The dimensions that the input arrays agree on, checked; wrong dtype, rank or shape is refused."""
        dims: dict[str, int] = {}
        for tensor in self.inputs:
            array = arrays[tensor.name]
            if array.dtype != np.dtype(tensor.dtype):
                raise Refusal(f"{self.name}: {tensor.name} is {array.dtype}, not {tensor.dtype}")
            if array.ndim != len(tensor.shape):
                raise Refusal(f"{self.name}: {tensor.name} has shape {array.shape}, not ({', '.join(tensor.shape)})")
            if not array.flags.c_contiguous:
                raise Refusal(f"{self.name}: {tensor.name} is not contiguous: its strides are {array.strides} bytes")
            for name, length in zip(tensor.shape, array.shape):
                if dims.setdefault(name, length) != length:
                    raise Refusal(f"{self.name}: {tensor.name} has {name} = {length}, the other input {dims[name]}")
        self.check_dimensions(dims)
        return dims


GEMM_NT = Contract(
    name="gemm_nt",
    tensors=(
        Tensor("A", "float16", ("nt", "id")),
        Tensor("B", "float16", ("od", "id")),
        Tensor("C", "float32", ("nt", "od"), written=True),
    ),
    dimensions=("nt", "od", "id"),
    multiples={"id": 8},
    flop=lambda nt, od, id: 2 * nt * od * id,
)
