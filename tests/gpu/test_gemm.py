"""Every GEMM variant on a real GPU, against float64, on shapes with tails in all directions."""

import numpy as np
import pytest

from playground.compiler.build import build
from playground.kernels import gemm_f16_nt
from playground.measure import parity
from playground.measure.references import REFERENCES

pytestmark = pytest.mark.gpu

VARIANTS = [
    {"TM": 64, "KS": 32},
    {"TM": 128, "KS": 32},
    {"TM": 128, "KS": 64},
    {"TM": 256, "KS": 32, "warps": 16},
    {"TM": 256, "KS": 32, "warps": 8},
    {"TM": 64, "KS": 96, "pad": 8},
    {"TM": 128, "KS": 32, "warps": 16},
    {"TM": 128, "KS": 32, "warps": 4},
    {"TM": 128, "KS": 96, "pad": 8},
    {"TM": 192, "KS": 32, "warps": 12},
]
NT, OD, ID = (1, 63, 65, 200), (8, 72, 100, 384), (8, 40, 72, 520)


@pytest.mark.parametrize("parameters", VARIANTS, ids=str)
@pytest.mark.parametrize("nt", NT)
def test_a_variant_is_right_to_the_last_element_and_writes_nothing_else(device, gemm_on, parameters, nt):
    made = build(gemm_f16_nt(**parameters), device.arch)
    failed = {}
    for od in OD:
        for id in ID:
            workspace, inputs = gemm_on(nt, od, id)
            outcome = workspace.run(made)
            assert outcome.outputs["C"].shape == (nt, od)
            gate = parity.check(outcome, REFERENCES["gemm_nt"](inputs))
            if not gate.passed:
                failed[nt, od, id] = str(gate)
    assert failed == {}


@pytest.mark.parametrize("parameters", VARIANTS, ids=str)
def test_small_whole_numbers_are_multiplied_exactly(device, parameters):
    """Sums of up to 520 products of −3 to 3 are exact in f32: not one bit may differ."""
    from playground.gpu.workspace import Workspace
    from playground.kernels.gemm_f16_nt import GEMM_NT

    random = np.random.default_rng(4)
    A, B = (random.integers(-3, 4, (rows, 520)).astype(np.float16) for rows in (130, 264))
    with Workspace(device, GEMM_NT, {"A": A, "B": B}) as workspace:
        C = workspace.run(build(gemm_f16_nt(**parameters), device.arch)).outputs["C"]
    assert np.array_equal(C, A.astype(np.int64) @ B.T.astype(np.int64))


def test_both_halves_of_every_k_step_count(device):
    """Seed 000, §3.2: "the v1 bug: only the first 16 k's were multiplied"; one product at each k in turn."""
    from playground.gpu.workspace import Workspace
    from playground.kernels.gemm_f16_nt import GEMM_NT

    id = 96
    A = np.eye(id, dtype=np.float16)
    B = np.arange(1, 8 * id + 1, dtype=np.float16).reshape(8, id)
    for KS in (32, 64, 96):
        with Workspace(device, GEMM_NT, {"A": A, "B": B}) as workspace:
            C = workspace.run(build(gemm_f16_nt(TM=64, KS=KS), device.arch)).outputs["C"]
        assert np.array_equal(C, B.T.astype(np.float32)), KS


def test_a_run_repeats_to_the_bit(device, gemm_on):
    workspace, _ = gemm_on(200, 384, 520)
    made = build(gemm_f16_nt(TM=128), device.arch)
    first, again = (workspace.run(made).outputs["C"] for _ in range(2))
    assert np.array_equal(first, again)


def test_a_grid_that_leaves_rows_out_is_seen_as_unwritten(device, gemm_on):
    from dataclasses import replace

    workspace, inputs = gemm_on(200, 384, 72)
    whole = gemm_f16_nt(TM=128)
    short = replace(whole, grid=lambda nt, od, id: (3, 3, 1))  # 192 of 200 rows
    gate = parity.check(workspace.run(build(short, device.arch)), REFERENCES["gemm_nt"](inputs))
    assert not gate.passed
    assert gate.not_finite == 8 * 384
    assert gate.where == (192, 0)
