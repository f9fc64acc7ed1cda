"""The arrays of one problem in emulated memory, on which any kernel of the same contract can run."""

from dataclasses import asdict
from pathlib import Path

import numpy as np

from playground.compiler.build import Build
from playground.emulator.arrays import emulate_build, poisoned
from playground.emulator.hazards import Hazard
from playground.emulator.launch import Report
from playground.kernels.contract import Contract
from playground.runner import Outcome

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

    def run(self, build: Build) -> Outcome:
        """Execute the build's PTX; the outcome holds its outputs, hazards and counts."""
        return self.outcome(self.report(build))

    def report(self, build: Build, checks: bool = True) -> Report:
        """Execute the build's PTX; the report also has the counts per Python line. checks: as in launch."""
        return emulate_build(build, [self._array(tensor) for tensor in self.contract.tensors], self.dims, checks)

    def outcome(self, report: Report) -> Outcome:
        """What a run left, as every runner tells it."""
        names = [tensor.name for tensor in self.contract.tensors]
        arrays = dict(zip(names, report.outputs))
        read = {f"global_bytes_read_of_{name}": bytes for name, bytes in zip(names, report.bytes_read)}
        return Outcome(
            outputs={tensor.name: arrays[tensor.name] for tensor in self.contract.outputs},
            hazards=[hazard_record(hazard) for hazard in report.hazards],
            counts=report.counts.total() | read,
        )

    def _array(self, tensor) -> np.ndarray:
        if tensor in self.contract.inputs:
            return self.inputs[tensor.name]
        return poisoned(self.contract.shape_of(tensor, self.dims), tensor.dtype)


def hazard_record(hazard: Hazard) -> dict:
    """A hazard as it goes into a record, its file named from the root of the checkout."""
    path = Path(hazard.file)
    return asdict(hazard) | {"file": str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name}
