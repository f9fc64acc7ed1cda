"""The passes of a prefill on a machine that could not hold it: what would be launched, and the work that it is."""

from dataclasses import dataclass

from playground.compiler.arch import Arch
from playground.prefill.configuration import Configuration
from playground.prefill.decoder import Decoder
from playground.prefill.passes import Pass
from playground.prefill.weights import tensor_shapes
from playground.shapes import Model


@dataclass(frozen=True)
class Absent:
    """A handle of memory that is not there."""

    shape: tuple[int, ...]
    dtype: str


class Nowhere:
    """A runner's methods as far as a decoder needs them before its first launch; it holds nothing."""

    def __init__(self, arch: Arch):
        self.arch = arch

    def place(self, handle: Absent) -> Absent:
        return handle

    def allocate(self, shape: tuple[int, ...], dtype: str) -> Absent:
        return Absent(shape, dtype)

    def row(self, handle: Absent, index: int) -> Absent:
        return Absent((1, *handle.shape[1:]), handle.dtype)

    def require(self, needed: int, what: str) -> None:
        pass


def listed(model: Model, configuration: Configuration, arch: Arch, nt: int) -> list[Pass]:
    """Every launch of a prefill of nt tokens, in order."""
    weights = {name: Absent(*described) for name, described in tensor_shapes(model).items()}
    return Decoder(Nowhere(arch), model, weights, configuration, slots=nt).passes(nt)
