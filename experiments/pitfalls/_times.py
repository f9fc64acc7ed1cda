"""What a mistake costs in time: measured as in a probe, interleaved, cold, with an A/A control, every sample kept."""

from collections.abc import Mapping

import numpy as np

from experiments.pitfalls._wrong_kernel import drawn
from playground.compiler.build import build
from playground.gpu.telemetry import Telemetry
from playground.gpu.workspace import Workspace
from playground.kernels import Kernel
from playground.measure import verdict
from playground.measure.timing import Stopwatch, as_record, rounds_for
from playground.measure.verdict import CONTROL

ROUNDS = 60


def compare(device, right: Kernel, wrong: Kernel, dims: Mapping[str, int]) -> dict:
    """{"samples_us": {"right", "wrong", "A/A": [µs per round]}, "verdict": …, "telemetry": …}."""
    found = samples(device, {"right": right, "wrong": wrong, CONTROL: right}, drawn(right, dims))
    return {**found, "verdict": judged(found["samples_us"])}


def samples(device, sides: Mapping[str, Kernel], inputs: Mapping[str, np.ndarray], rounds: int = ROUNDS) -> dict:
    """{"samples_us": {side: [µs per round]}, "telemetry": …} of kernels of one contract."""
    contract = next(iter(sides.values())).contract
    with Workspace(device, contract, inputs) as workspace, Stopwatch(device) as stopwatch:
        launches = {side: workspace.launcher(build(kernel, device.arch)) for side, kernel in sides.items()}
        with Telemetry(device.pci_bus_id) as telemetry:
            found = stopwatch.measure(launches, rounds_for(len(launches), rounds))
    return {"samples_us": as_record(found), "telemetry": telemetry.summary}


def judged(samples_us: Mapping[str, list[float]]) -> dict:
    """The verdict on the mistake, as the candidate."""
    return verdict.judge(*(np.array(samples_us[side]) for side in ("right", "wrong", CONTROL))).as_record()


def told(found: Mapping) -> str:
    """The verdict for the reader."""
    ratio = found["verdict"]["ratio"]
    return (
        f"{1 / ratio['median']:.3f} times as long [{1 / ratio['high']:.3f}, {1 / ratio['low']:.3f}]"
        f" ({found['verdict']['verdict']})"
    )
