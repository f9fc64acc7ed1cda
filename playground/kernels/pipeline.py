"""Pipeline: kernels launched one after another, that together compute what one kernel could."""

from collections import Counter
from dataclasses import dataclass
from math import prod

from playground.errors import Refusal
from playground.kernels.contract import Contract, Tensor
from playground.kernels.kernel import Step


@dataclass(frozen=True)
class Pipeline:
    """Steps in order, on the tensors of `contract` and on `temporaries`, arrays that hold nothing before and after.

    It stands wherever a probe takes a kernel: with a contract, a name, parameters, and a label of its own. Steps that
    do not fit together are refused: an array that there is not, or of another type or size, or read before it is
    written, an input that a step overwrites, and an output that no step writes.
    """

    contract: Contract
    steps: tuple[Step, ...]
    temporaries: tuple[Tensor, ...] = ()

    def __post_init__(self):
        ready = {tensor.name for tensor in self.contract.inputs}
        kept = ready - {tensor.name for tensor in self.contract.outputs}
        if twice := {tensor.name for tensor in self.contract.tensors} & {tensor.name for tensor in self.temporaries}:
            raise Refusal(f"{self}: {', '.join(twice)} is a tensor of {self.contract.name} and a temporary")
        for step in self.steps:
            own = step.kernel.contract
            bindings = list(zip(own.tensors, step.tensors))
            for tensor, name in bindings:
                self._check_binding(step, tensor, name)
                if tensor.written and name in kept:
                    raise Refusal(f"{self}: {step.kernel.name} overwrites {name}, an input")
                if tensor in own.inputs and name not in ready:
                    raise Refusal(f"{self}: {step.kernel.name} reads {name} before any step has written it")
            ready |= {name for tensor, name in bindings if tensor.written}
        if missing := [tensor.name for tensor in self.contract.outputs if tensor.name not in ready]:
            raise Refusal(f"{self}: no step writes {', '.join(missing)}")

    def __str__(self) -> str:
        return " → ".join(str(step.kernel) for step in self.steps)

    @property
    def name(self) -> str:
        return " → ".join(step.kernel.name for step in self.steps)

    @property
    def described(self) -> dict[str, int | str]:
        """As of all steps; with the kernel's name before it, where two steps have a parameter of the same name."""
        every = [(step.kernel.name, *pair) for step in self.steps for pair in step.kernel.described.items()]
        uses = Counter(name for _, name, _ in every)
        return {name if uses[name] == 1 else f"{kernel}.{name}": value for kernel, name, value in every}

    def _check_binding(self, step: Step, tensor: Tensor, name: str) -> None:
        arrays = {array.name: array for array in (*self.contract.tensors, *self.temporaries)}
        if name not in arrays:
            raise Refusal(f"{self}: {step.kernel.name} takes {name}, which is not one of {', '.join(arrays)}")
        array = arrays[name]
        if array.dtype != tensor.dtype:
            raise Refusal(f"{self}: {name} is {array.dtype}, {step.kernel.name} takes it as {tensor.dtype}")
        for dims in self.contract.emulated:
            ours = self.contract.shape_of(array, dims)
            theirs = step.kernel.contract.shape_of(tensor, step.dimensions(dims))
            if prod(ours) != prod(theirs):
                raise Refusal(f"{self}: {name} has shape {ours}, {step.kernel.name} takes it as {theirs}")
