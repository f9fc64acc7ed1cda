"""A mistake in a kernel: what parity, hazards and counts have against it in the emulator, beside the correct kernel.

On a GPU both are launched many times, in a process of their own: a kernel that faults takes its context with it.
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from experiments.pitfalls._edit import Edit
from experiments.pitfalls._pitfall import COUNTS, HAZARD, PARITY, Examination, Objection, Pitfall, place, place_of
from playground import Refusal
from playground.compiler.arch import arch_named
from playground.compiler.build import build
from playground.emulator import Report
from playground.emulator.workspace import EmulatedWorkspace
from playground.kernels import Kernel
from playground.measure import parity
from playground.measure.inputs import random_inputs
from playground.measure.references import REFERENCES
from playground.runner import Outcome

EMULATED_ON = "H200"
SEED = 20261129
LAUNCHES = 100
CONFLICT = 2.0
"""Wavefronts of a line's shared loads over those without conflicts, from which on the counts object."""


@dataclass(frozen=True)
class WrongKernel:
    """The kernel that `compose` makes, and the same with a mistake: by an edit, or as `spoil` changes it.

    emulated, launched: dimensions for the emulator and for a GPU.
    """

    compose: Callable[[], Kernel]
    emulated: Mapping[str, int]
    launched: Mapping[str, int]
    edit: Edit | None = None
    spoil: Callable[[Kernel], Kernel] | None = None

    def right(self) -> Kernel:
        return self.compose()

    def wrong(self, mistake: str | None = None) -> Kernel:
        """mistake: what its label calls it; where it was made if None."""
        if self.edit:
            with self.edit.in_force():
                made = self.compose()
        else:
            made = self.spoil(self.compose())
        return replace(made, parameters={**made.parameters, "mistake": mistake or self.where})

    @property
    def where(self) -> str:
        return self.edit.where if self.edit else place_of(self.spoil)

    def examine(self) -> Examination:
        """Both kernels in the emulator, on the same inputs."""
        return Examination(
            wrong=objections(self.wrong(), self.emulated),
            right=objections(self.right(), self.emulated),
            where=self.where,
            diff=self.edit.diff() if self.edit else (),
        )

    def on_gpu(self, name: str, device) -> dict:
        """Launch both LAUNCHES times; how many results were wrong, and how wrong."""
        command = [sys.executable, "-m", "experiments.pitfalls", name, "--launch-only"]
        done = subprocess.run(command, capture_output=True, text=True)
        try:
            found = json.loads(done.stdout)
        except ValueError:
            reason = " ".join(done.stderr.split())[-300:]
            raise Refusal(f"{name}: the launches ended with exit status {done.returncode}: {reason}") from None
        says = f"{_told(found['wrong'])}; correct kernel: {_told(found['right'])}"
        return {"dims": dict(self.launched), **found, "says": says}

    def pitfall(self, mistake: str, source: str, gate: str) -> Pitfall:
        """The pitfall that is made of this and no more."""
        return Pitfall(mistake, source, gate, self.examine, self.on_gpu, self.launch)

    def launch(self, device) -> dict:
        """What the process of its own does: the correct kernel first, since the other may fault."""
        return {
            "right": launches(device, self.right(), self.launched),
            "wrong": launches(device, self.wrong(), self.launched),
        }


def objections(kernel: Kernel, dims: Mapping[str, int]) -> list[Objection]:
    """What parity, the hazards and the counts have against a kernel, run once in the emulator."""
    workspace, report = emulated(kernel, dims)
    outcome = workspace.outcome(report)
    gate = parity.check(outcome, REFERENCES[kernel.contract.name](workspace.inputs))
    found = [] if gate.passed else [Objection(PARITY, str(gate))]
    return found + hazards(outcome) + conflicts(report.counts)


def hazards(outcome: Outcome) -> list[Objection]:
    """Per kind and line of Python, the most frequent first: an unrolled loop has one instruction for each turn."""
    times = Counter()
    for hazard in outcome.hazards:
        times[hazard["kind"], f"{hazard['file']}:{hazard['line']}"] += hazard["count"]
    return [Objection(HAZARD, f"{kind}, {count:,} times", where) for (kind, where), count in times.most_common()]


def drawn(kernel: Kernel, dims: Mapping[str, int]) -> dict[str, np.ndarray]:
    """Random inputs, the same at every call."""
    return random_inputs(kernel.contract, dict(dims), SEED)


def emulated(kernel: Kernel, dims: Mapping[str, int]) -> tuple[EmulatedWorkspace, Report]:
    """A kernel run on random inputs, and what the run left."""
    workspace = EmulatedWorkspace(kernel.contract, drawn(kernel, dims))
    return workspace, workspace.report(build(kernel, arch_named(EMULATED_ON)))


def conflicts(counts) -> list[Objection]:
    """Lines whose shared loads take CONFLICT times the wavefronts that they could, the worst first."""
    degrees = {line: found["shared_load_conflict_degree"] for line, found in counts.by_line().items()}
    return [
        Objection(COUNTS, f"shared loads conflict {degree:.0f}-way", place(*line))
        for line, degree in sorted(degrees.items(), key=lambda item: -item[1])
        if degree >= CONFLICT
    ]


def launches(device, kernel: Kernel, dims: Mapping[str, int]) -> dict:
    """LAUNCHES runs on the GPU: how many were wrong, the largest error, and the driver's error if it faulted."""
    from playground.gpu.driver import DriverError
    from playground.gpu.workspace import Workspace

    inputs = drawn(kernel, dims)
    expected = REFERENCES[kernel.contract.name](inputs)
    gates, fault = [], None
    built = build(kernel, device.arch)
    try:
        with Workspace(device, kernel.contract, inputs) as workspace:
            for _ in range(LAUNCHES):
                gates.append(parity.check(workspace.run(built), expected))
    except DriverError as error:
        fault = str(error)
    return {
        "launches": len(gates) + (fault is not None),
        "wrong": sum(not gate.passed for gate in gates) + (fault is not None),
        "max_error": max((gate.max_error for gate in gates), default=None),
        "not_finite": max((gate.not_finite for gate in gates), default=0),
        "fault": fault,
    }


def _told(found: Mapping) -> str:
    told = f"{found['wrong']} of {found['launches']} launches wrong"
    if found["max_error"] is not None:
        told += f", max error {found['max_error']:.2g}"
    if found["not_finite"]:
        told += f", up to {found['not_finite']:,} elements not finite"
    return told + (f", {found['fault']}" if found["fault"] else "")
