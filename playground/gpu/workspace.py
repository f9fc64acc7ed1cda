"""The arrays of one problem on the device, on which any kernel of the same contract can run."""

from collections.abc import Callable

import numpy as np

from playground.compiler.build import Build, PipelineBuild
from playground.gpu.buffer import Buffer
from playground.gpu.device import Device
from playground.gpu.program import Program
from playground.kernels import Kernel, Pipeline, Step
from playground.kernels.contract import Contract, Tensor
from playground.runner import Outcome


class Workspace:
    """Inputs uploaded once, outputs poisoned before every run. `with` frees the memory at the end.

    An output that is updated in place gets the values it had at first before every run. The temporaries of a pipeline
    are made when it is first launched, kept for others that describe theirs in the same way, and poisoned like outputs.
    """

    def __init__(self, device: Device, contract: Contract, inputs: dict[str, np.ndarray]):
        self.device, self.contract, self.inputs = device, contract, inputs
        self.dims = contract.dimensions_of(inputs)
        self.buffers: dict[str, Buffer] = {}
        self.temporaries: dict[Tensor, Buffer] = {}
        for tensor in contract.tensors:
            self.buffers[tensor.name] = self._buffer(tensor)
        for tensor in contract.inputs:
            self.buffers[tensor.name].upload(inputs[tensor.name])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for buffer in (*self.buffers.values(), *self.temporaries.values()):
            buffer.free()

    def launcher(self, build: Build | PipelineBuild, steps: int | None = None) -> Callable[[], None]:
        """A function that enqueues one launch of `build` on these arrays; of a pipeline, of its first `steps` only."""
        arrays = self.buffers | self._temporaries_of(build.kernel)
        pairs = list(zip(build.steps, build.kernel.steps))[:steps]
        launches = [self._launch(*pair, arrays) for pair in pairs]

        def launch_all():
            for launch in launches:
                launch()

        return launch_all

    def run(self, build: Build | PipelineBuild) -> Outcome:
        """Poison (or restore) the outputs, launch once, and bring everything back."""
        outputs = {tensor.name: self.buffers[tensor.name] for tensor in self.contract.outputs}
        launch = self.launcher(build)
        for buffer in (*outputs.values(), *self.temporaries.values()):
            buffer.poison()
        for name in outputs.keys() & self.inputs.keys():
            outputs[name].upload(self.inputs[name])
        launch()
        every = (*self.buffers.values(), *self.temporaries.values())
        return Outcome(
            outputs={name: buffer.download() for name, buffer in outputs.items()},
            written_outside=sum(buffer.overrun() for buffer in every),
        )

    def _launch(self, build: Build, step: Step, arrays: dict[str, Buffer]) -> Callable[[], None]:
        addresses = [arrays[name].address for name in step.tensors]
        return Program(build, self.device).launcher(addresses, step.dimensions(self.dims))

    def _temporaries_of(self, kernel: Kernel | Pipeline) -> dict[str, Buffer]:
        for tensor in kernel.temporaries:
            if tensor not in self.temporaries:
                self.temporaries[tensor] = self._buffer(tensor)
        return {tensor.name: self.temporaries[tensor] for tensor in kernel.temporaries}

    def _buffer(self, tensor: Tensor) -> Buffer:
        return Buffer(self.device, self.contract.shape_of(tensor, self.dims), tensor.dtype)
