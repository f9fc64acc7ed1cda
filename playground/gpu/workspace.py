"""The arrays of one problem on the device, on which any kernel of the same contract can run."""

import numpy as np

from playground.compiler.build import Build
from playground.gpu.buffer import Buffer
from playground.gpu.device import Device
from playground.gpu.program import Program
from playground.kernels.contract import Contract
from playground.runner import Outcome


class Workspace:
    """Inputs uploaded once, outputs poisoned before every run. `with` frees the memory at the end.

    An output that is updated in place gets the values it had at first before every run.
    """

    def __init__(self, device: Device, contract: Contract, inputs: dict[str, np.ndarray]):
        self.device, self.contract, self.inputs = device, contract, inputs
        self.dims = contract.dimensions_of(inputs)
        self.buffers: dict[str, Buffer] = {}
        for tensor in contract.tensors:
            self.buffers[tensor.name] = Buffer(device, contract.shape_of(tensor, self.dims), tensor.dtype)
        for tensor in contract.inputs:
            self.buffers[tensor.name].upload(inputs[tensor.name])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for buffer in self.buffers.values():
            buffer.free()

    def launcher(self, program: Program):
        """A function that enqueues one launch of `program` on these arrays."""
        return program.launcher([buffer.address for buffer in self.buffers.values()], self.dims)

    def run(self, build: Build) -> Outcome:
        """Poison (or restore) the outputs, launch once, and bring everything back."""
        outputs = {tensor.name: self.buffers[tensor.name] for tensor in self.contract.outputs}
        for name, buffer in outputs.items():
            buffer.poison()
            if name in self.inputs:
                buffer.upload(self.inputs[name])
        self.launcher(Program(build, self.device))()
        return Outcome(
            outputs={name: buffer.download() for name, buffer in outputs.items()},
            written_outside=sum(buffer.overrun() for buffer in self.buffers.values()),
        )
