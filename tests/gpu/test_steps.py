"""Pipelines and the GEMM of an f32 A on a real GPU."""

from dataclasses import replace

import numpy as np
import pytest

from playground.compiler.build import build
from playground.kernels import Pipeline, convert_gemm, gemm_f16_nt
from playground.kernels.gemm_f16_nt import GEMM_AF32_NT
from playground.measure import parity
from playground.measure.inputs import random_inputs
from playground.measure.references import REFERENCES

pytestmark = pytest.mark.gpu

GEOMETRIES = [
    {"TM": 128, "KS": 32},
    {"TM": 64, "KS": 96, "pad": 8, "warps": 4},
    {"TM": 192, "KS": 32, "warps": 12},
    {"TM": 256, "KS": 64, "pad": 8, "warps": 16},
]
SHAPES = [(1, 1, 8), (65, 130, 40), (200, 384, 520), (63, 72, 3584)]


@pytest.fixture
def workspace_of(device):
    from playground.gpu.workspace import Workspace

    def make(nt, od, id):
        inputs = random_inputs(GEMM_AF32_NT, {"nt": nt, "od": od, "id": id}, seed=nt + id)
        return Workspace(device, GEMM_AF32_NT, inputs), inputs

    return make


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_all_routes_are_right_and_the_same_to_the_bit(device, workspace_of, geometry):
    routes = [convert_gemm(**geometry), *(gemm_f16_nt(**geometry, AF32=AF32) for AF32 in ("sync", "mirror"))]
    for shape in SHAPES:
        workspace, inputs = workspace_of(*shape)
        with workspace:
            outcomes = [workspace.run(build(route, device.arch)) for route in routes]
        gates = [parity.check(outcome, REFERENCES["gemm_af32_nt"](inputs)) for outcome in outcomes]
        assert [str(gate) for gate in gates if not gate.passed] == [], shape
        first, *others = (outcome.outputs["C"] for outcome in outcomes)
        assert all(np.array_equal(first, other) for other in others), shape


def test_a_temporary_is_poisoned_before_every_run(device, workspace_of):
    """A step that leaves some of it as it was does not find what an earlier run has left there."""
    whole = convert_gemm()
    convert, gemm = whole.steps
    idle = replace(convert.kernel, grid=lambda n: (2, 1, 1))  # 4096 of 8840 elements: 30 of 65 rows of 136
    short = Pipeline(GEMM_AF32_NT, (replace(convert, kernel=idle), gemm), whole.temporaries)
    workspace, _ = workspace_of(65, 8, 136)
    with workspace:
        assert np.isfinite(workspace.run(build(whole, device.arch)).outputs["C"]).all()
        C = workspace.run(build(short, device.arch)).outputs["C"]
    assert np.array_equal(np.isnan(C).any(axis=1), np.arange(65) >= 30)


def test_writing_beside_a_temporary_is_counted(device, workspace_of):
    whole = convert_gemm()
    convert, gemm = whole.steps
    longer = replace(convert, derived=lambda nt, od, id: {"n": nt * id + 8})  # reads the guard of A, writes that of A16
    workspace, _ = workspace_of(65, 8, 136)
    with workspace:
        outcome = workspace.run(build(_unchecked(whole, (longer, gemm)), device.arch))
    assert 0 < outcome.written_outside <= 16


def test_the_first_steps_alone_leave_the_output_as_it_was(device, workspace_of):
    workspace, inputs = workspace_of(65, 8, 136)
    made = build(convert_gemm(), device.arch)
    with workspace:
        launch = workspace.launcher(made, 1)
        launch()
        (A16,) = (buffer.download() for buffer in workspace.temporaries.values())
        assert np.array_equal(A16, inputs["A"].astype(np.float16))
        assert np.isnan(workspace.buffers["C"].download()).all()


def _unchecked(pipeline, steps):
    """The same with other steps, that need not fit together."""
    changed = replace(pipeline)
    object.__setattr__(changed, "steps", steps)
    return changed
