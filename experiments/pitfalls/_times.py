"""Kernels timed beside each other as in a probe: interleaved, cold, every sample kept."""

from collections.abc import Mapping

import numpy as np

from playground.compiler.build import build
from playground.gpu.program import Program
from playground.gpu.telemetry import Telemetry
from playground.gpu.workspace import Workspace
from playground.kernels import Kernel
from playground.measure.inputs import random_inputs
from playground.measure.timing import Stopwatch, rounds_for

ROUNDS = 24
SEED = 20261129


def samples(device, sides: Mapping[str, Kernel], dims: Mapping[str, int], inputs=None) -> dict:
    """{"samples_us": {side: [µs per round]}, "telemetry": …} on random inputs, or on those given."""
    contract = next(iter(sides.values())).contract
    inputs = inputs or random_inputs(contract, dict(dims), SEED)
    with Workspace(device, contract, inputs) as workspace, Stopwatch(device) as stopwatch:
        programs = {side: Program(build(kernel, device.arch), device) for side, kernel in sides.items()}
        launches = {side: workspace.launcher(program) for side, program in programs.items()}
        with Telemetry(device.pci_bus_id) as telemetry:
            found = stopwatch.measure(launches, rounds_for(len(launches), ROUNDS))
    return {"samples_us": recorded(found), "telemetry": telemetry.summary}


def recorded(found: Mapping[str, np.ndarray]) -> dict[str, list[float]]:
    return {side: [round(value, 3) for value in values] for side, values in found.items()}


def medians(samples_us: Mapping[str, list[float]]) -> dict[str, float]:
    return {side: float(np.median(values)) for side, values in samples_us.items()}
