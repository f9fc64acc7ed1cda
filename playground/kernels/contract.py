"""What a kernel computes, apart from how: its arguments, the shapes they admit, and the work that a shape takes.

Two kernels with the same contract can be compared: they run on the same arrays and answer to the same reference.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from playground.errors import Refusal


@dataclass(frozen=True)
class Tensor:
    """A C-contiguous array argument; `shape` holds names of dimensions and fixed lengths. Numba sees its address.

    written: an output. updated: an output that is an input too, of which a kernel may leave parts as they are.
    """

    name: str
    dtype: str
    shape: tuple[str | int, ...]
    written: bool = False
    updated: bool = False


@dataclass(frozen=True)
class Contract:
    """The arguments of a kernel: its tensors in order, then its dimensions (int32) in order.

    emulated: small dimensions to emulate, first ragged ones, last whole tiles, on which counts are compared.
    complaint: what is wrong with dimensions, or None. complaint_about_values: the same for input arrays.
    rate: what its speed is told in, "TFLOP/s" or "GB/s". traffic: bytes read and written at the least, from the
    dimensions, where that is not every tensor once.
    degrees: by what power of a dimension the work grows, where that is not 1; 0: not at all. With 2 and above, the
    blocks of a launch differ in work. moves_with: dimensions whose excess over another one is what counts.
    """

    name: str
    tensors: tuple[Tensor, ...]
    dimensions: tuple[str, ...]
    flop: Callable[..., int] = lambda **dims: 0
    emulated: tuple[Mapping[str, int], ...] = ()
    complaint: Callable[..., str | None] = lambda **dims: None
    complaint_about_values: Callable[[Mapping[str, np.ndarray]], str | None] = lambda inputs: None
    rate: str = "TFLOP/s"
    traffic: Callable[..., int] | None = None
    degrees: Mapping[str, int] = field(default_factory=dict)
    moves_with: Mapping[str, str] = field(default_factory=dict)

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return tuple(tensor for tensor in self.tensors if not tensor.written or tensor.updated)

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        return tuple(tensor for tensor in self.tensors if tensor.written)

    def shape_of(self, tensor: Tensor, dims: Mapping[str, int]) -> tuple[int, ...]:
        return tuple(dims.get(length, length) for length in tensor.shape)

    def bytes_of(self, tensor: Tensor, dims: Mapping[str, int]) -> int:
        return math.prod(self.shape_of(tensor, dims)) * np.dtype(tensor.dtype).itemsize

    def work(self, dims: Mapping[str, int]) -> dict:
        """The work that a launch on these dimensions has to do, as it goes into a record, with the unit of its rate."""
        every_tensor_once = sum(self.bytes_of(tensor, dims) for tensor in self.tensors)
        moved = self.traffic(**dims) if self.traffic else every_tensor_once
        return {"flop": self.flop(**dims), "bytes": moved, "unit": self.rate}

    def check_dimensions(self, dims: Mapping[str, int]) -> None:
        """Refuse dimensions that are empty, too long for int32, or not what the contract needs."""
        if set(dims) != set(self.dimensions):
            raise Refusal(f"{self.name}: the dimensions are {', '.join(self.dimensions)}, not {', '.join(dims)}")
        for name in self.dimensions:
            if not isinstance(dims[name], int):
                raise Refusal(f"{self.name}: {name} = {dims[name]!r} is not a whole number")
            if not 0 < dims[name] < 2**31:
                raise Refusal(f"{self.name}: {name} = {dims[name]} is not between 1 and {2**31 - 1}")
        if complaint := self.complaint(**dims):
            raise Refusal(f"{self.name}: {complaint}")

    def dimensions_of(self, inputs: Mapping[str, np.ndarray]) -> dict[str, int]:
        """The dimensions that the input arrays agree on, checked; wrong dtype, rank or shape is refused."""
        dims: dict[str, int] = {}
        for tensor in self.inputs:
            array = inputs.get(tensor.name)
            if not isinstance(array, np.ndarray):
                raise Refusal(f"{self.name}: {tensor.name} is a {type(array).__name__}, not an array")
            if array.dtype != np.dtype(tensor.dtype):
                raise Refusal(f"{self.name}: {tensor.name} is {array.dtype}, not {tensor.dtype}")
            if array.ndim != len(tensor.shape):
                wanted = ", ".join(map(str, tensor.shape))
                raise Refusal(f"{self.name}: {tensor.name} has shape {array.shape}, not ({wanted})")
            if not array.flags.c_contiguous:
                raise Refusal(f"{self.name}: {tensor.name} is not contiguous: its strides are {array.strides} bytes")
            for axis, (name, length) in enumerate(zip(tensor.shape, array.shape)):
                wanted = dims.setdefault(name, length) if isinstance(name, str) else name
                if wanted != length:
                    what = name if isinstance(name, str) else f"axis {axis}"
                    raise Refusal(f"{self.name}: {tensor.name} has {what} = {length}, expected {wanted}")
        self.check_dimensions(dims)
        if complaint := self.complaint_about_values(inputs):
            raise Refusal(f"{self.name}: {complaint}")
        return dims
