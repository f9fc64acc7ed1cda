"""The launches that both sides look at: a kernel on the same inputs, in the emulator and on the device."""

import subprocess
import sys
from collections.abc import Mapping, Sequence

import numpy as np

from playground.compiler.build import build
from playground.emulator.workspace import EmulatedWorkspace
from playground.errors import Refusal
from playground.kernels import Kernel, Pipeline
from playground.measure.inputs import random_inputs
from playground.runner import Outcome

SEED = 20261129


def inputs_of(kernel: Kernel | Pipeline, dims: Mapping[str, int]) -> dict[str, np.ndarray]:
    """Random, and the same at every call."""
    return random_inputs(kernel.contract, dict(dims), SEED)


def emulated(device, kernel: Kernel | Pipeline, dims: Mapping[str, int]) -> Outcome:
    """What the build for `device` does in the emulator."""
    return EmulatedWorkspace(kernel.contract, inputs_of(kernel, dims)).run(build(kernel, device.arch))


def on_gpu(device, kernel: Kernel | Pipeline, dims: Mapping[str, int]) -> Outcome:
    """What one launch of it does on `device`."""
    from playground.gpu.workspace import Workspace

    with Workspace(device, kernel.contract, inputs_of(kernel, dims)) as workspace:
        return workspace.run(build(kernel, device.arch))


def watched(tool: Sequence[str], command: str, *options: str) -> subprocess.CompletedProcess:
    """`python -m playground COMMAND --launch-only`, ended, and what `tool` said that watched it."""
    launching = [sys.executable, "-m", "playground", command, "--launch-only", *options]
    return subprocess.run([*tool, *launching], capture_output=True, text=True)


def failure(name: str, done: subprocess.CompletedProcess) -> Refusal:
    """That a tool failed, with the end of what it said."""
    return Refusal(f"{name} failed ({done.returncode}): {' '.join((done.stderr + done.stdout).split())[-300:]}")
