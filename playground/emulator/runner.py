"""The arrays of one problem in emulated memory, on which any kernel of the same contract can run."""

from dataclasses import asdict
from pathlib import Path

import numpy as np

from playground.compiler.build import Build
from playground.emulator.global_memory import GlobalMemory
from playground.emulator.launch import Report, launch
from playground.kernels.contract import Contract
from playground.runner import Outcome

ROOT = Path(__file__).parents[2]
POISON = 0xFF


class EmulatedWorkspace:
    """Fresh memory for every run: inputs as given, other outputs filled with bytes 0xFF (NaN)."""

    def __init__(self, contract: Contract, inputs: dict[str, np.ndarray]):
        self.contract, self.inputs = contract, inputs
        self.dims = contract.dimensions_of(inputs)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def run(self, build: Build) -> Outcome:
        """Execute the build's PTX; the outcome holds its outputs, hazards and counts."""
        memory, addresses = self._memory()
        report = self._launch(build, memory, addresses)
        return Outcome(
            outputs={tensor.name: memory.read(addresses[tensor.name]) for tensor in self.contract.outputs},
            hazards=[_relative(asdict(hazard)) for hazard in report.hazards],
            counts=report.counts.total(),
        )

    def report(self, build: Build) -> Report:
        """The same run as the emulator tells it: with counts per Python line."""
        return self._launch(build, *self._memory())

    def _memory(self) -> tuple[GlobalMemory, dict[str, int]]:
        memory = GlobalMemory()
        return memory, {tensor.name: memory.place(self._array(tensor)) for tensor in self.contract.tensors}

    def _launch(self, build: Build, memory: GlobalMemory, addresses: dict[str, int]) -> Report:
        kernel, dims = build.kernel, self.dims
        kernel.check_addresses([*addresses.values()])
        parameters = [*addresses.values(), *(dims[name] for name in self.contract.dimensions)]
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
