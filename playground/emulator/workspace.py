"""The arrays of one problem in emulated memory, on which any kernel of the same contract can run."""

import math
from dataclasses import asdict
from pathlib import Path

import numpy as np

from playground.compiler.build import Build, PipelineBuild
from playground.emulator.arrays import emulate_in, poisoned
from playground.emulator.counts import sum_of
from playground.emulator.global_memory import GlobalMemory
from playground.emulator.hazards import Hazard
from playground.emulator.launch import Report
from playground.errors import Refusal
from playground.kernels.contract import Contract
from playground.runner import Outcome
from playground.shapes import Shape

ROOT = Path(__file__).parents[2]
MOST_FLOP, MOST_ELEMENTS = 4e9, 2e7


def require_small(contract: Contract, shape: Shape) -> None:
    """Refuse what would take many minutes to emulate, or more memory than there may be."""
    flop = contract.flop(**shape.dims)
    elements = sum(math.prod(contract.shape_of(tensor, shape.dims)) for tensor in contract.tensors)
    if flop > MOST_FLOP or elements > MOST_ELEMENTS:
        raise Refusal(
            f"{shape}: {flop:.1e} FLOP on {elements:.1e} elements are too much without a GPU:"
            f" the emulator is given at most {MOST_FLOP:.0e} on {MOST_ELEMENTS:.0e}"
        )


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

    def report(self, build: Build, checks: bool = True) -> Report:
        """Execute the PTX of a kernel; the report also has the counts per Python line. checks: as in launch."""
        (report,) = self.reports(build, checks)
        return report

    def reports(self, build: Build | PipelineBuild, checks: bool = True) -> list[Report]:
        """The same of every step in turn."""
        memory = GlobalMemory()
        tensors = (*self.contract.tensors, *build.kernel.temporaries)
        addresses = {tensor.name: memory.place(self._array(tensor)) for tensor in tensors}
        return [
            emulate_in(memory, own, [addresses[name] for name in step.tensors], step.dimensions(self.dims), checks)
            for own, step in zip(build.steps, build.kernel.steps)
        ]

    def outcome(self, *reports: Report) -> Outcome:
        """What a run left, as every runner tells it."""
        names = [tensor.name for tensor in self.contract.tensors]
        arrays = dict(zip(names, reports[-1].outputs))
        return Outcome(
            outputs={tensor.name: arrays[tensor.name] for tensor in self.contract.outputs},
            hazards=[hazard_record(hazard) for report in reports for hazard in report.hazards],
            counts=sum_of([report.counts.total() | _read_of_each(names, report) for report in reports]),
        )

    def _array(self, tensor) -> np.ndarray:
        if tensor in self.contract.inputs:
            return self.inputs[tensor.name]
        return poisoned(self.contract.shape_of(tensor, self.dims), tensor.dtype)


def _read_of_each(names: list[str], report: Report) -> dict[str, int]:
    return {f"global_bytes_read_of_{name}": bytes for name, bytes in zip(names, report.bytes_read)}


def hazard_record(hazard: Hazard) -> dict:
    """A hazard as it goes into a record, its file named from the root of the checkout."""
    return asdict(hazard) | {"file": from_checkout(hazard.file)}


def from_checkout(path: str | Path) -> str:
    """A file's name from the root of the checkout, or alone where it lies outside."""
    path = Path(path)
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name
