"""The arrays of one problem in emulated memory, on which any kernel of the same contract can run."""

from dataclasses import asdict
from pathlib import Path

import numpy as np

from playground.compiler.build import Build, PipelineBuild
from playground.emulator.counts import sum_of
from playground.emulator.global_memory import GlobalMemory
from playground.emulator.launch import Report, launch
from playground.kernels.contract import Contract
from playground.kernels.kernel import Step
from playground.runner import POISON, Outcome

ROOT = Path(__file__).parents[2]


class EmulatedWorkspace:
    """Fresh memory for every run: inputs as given, other outputs filled with bytes 0xFF (NaN)."""

    def __init__(self, contract: Contract, inputs: dict[str, np.ndarray]):
        self.contract, self.inputs = contract, inputs
        self.dims = contract.dimensions_of(inputs)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def run(self, build: Build | PipelineBuild) -> Outcome:
        """Execute the build's PTX; the outcome holds its outputs, hazards and counts."""
        return self.outcome(*self.reports(build))

    def report(self, build: Build) -> Report:
        """Execute the PTX of a kernel; the report also has the counts per Python line."""
        (report,) = self.reports(build)
        return report

    def reports(self, build: Build | PipelineBuild) -> list[Report]:
        """The same of every step in turn."""
        memory = GlobalMemory()
        tensors = (*self.contract.tensors, *build.kernel.temporaries)
        addresses = {tensor.name: memory.place(self._array(tensor)) for tensor in tensors}
        return [self._launch(*pair, addresses, memory) for pair in zip(build.steps, build.kernel.steps)]

    def outcome(self, *reports: Report) -> Outcome:
        """What a run left, as every runner tells it."""
        arrays = dict(zip((tensor.name for tensor in self.contract.tensors), reports[-1].outputs))
        return Outcome(
            outputs={tensor.name: arrays[tensor.name] for tensor in self.contract.outputs},
            hazards=[_relative(asdict(hazard)) for report in reports for hazard in report.hazards],
            counts=sum_of([report.counts.total() for report in reports]),
        )

    def _launch(self, build: Build, step: Step, addresses: dict[str, int], memory: GlobalMemory) -> Report:
        kernel, dims = step.kernel, step.dimensions(self.dims)
        pointers = [addresses[name] for name in step.tensors]
        kernel.check_addresses(pointers)
        parameters = [*pointers, *(dims[name] for name in kernel.contract.dimensions)]
        return launch(build.ptx, kernel.grid(**dims), kernel.threads, parameters, memory, kernel.layout.bytes)

    def _array(self, tensor) -> np.ndarray:
        if tensor in self.contract.inputs:
            return self.inputs[tensor.name]
        array = np.empty(self.contract.shape_of(tensor, self.dims), tensor.dtype)
        array.view(np.uint8).fill(POISON)
        return array


def _relative(hazard: dict) -> dict:
    path = Path(hazard["file"])
    return hazard | {"file": str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name}
