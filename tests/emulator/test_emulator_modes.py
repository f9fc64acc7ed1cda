"""Hazards and counts do not depend on how many lanes are executed together."""

import numpy as np
import plain_kernels as plain
import pytest
from emulated_kernels import attention, gemm, run_attention, run_gemm
from ptx_harness import by_opcode, facts

from playground.emulator import emulate

MODES = ("warp", "block", "grid")


def same(run):
    """Run in every mode: the reports, after checking that they agree."""
    reports = [run(mode) for mode in MODES]
    for report in reports[1:]:
        assert facts(report) == facts(reports[0])
        assert report.counts.total() == reports[0].counts.total()
        assert report.counts.by_line() == reports[0].counts.by_line()
        assert by_opcode(report.counts) == by_opcode(reports[0].counts)
    return reports


@pytest.mark.parametrize(
    "choices",
    [{}, dict(wait=False), dict(pending=2), dict(first_barrier=False), dict(last_barrier=False), dict(stagers=64),
     dict(stride=256), dict(early_return=True), dict(divergent_mma=True), dict(commit=False)],
    ids=str,
)  # fmt: skip
def test_gemm(choices):
    same(lambda mode: run_gemm(gemm(**choices), nt=80, od=80, id=96, mode=mode)[0])


@pytest.mark.parametrize(
    "choices", [{}, dict(wait=False), dict(first_barrier=False), dict(last_barrier=False)], ids=str
)
def test_attention(choices):
    """Blocks have different numbers of steps here."""
    same(lambda mode: run_attention(attention(**choices), nt=130, mode=mode)[0])


@pytest.mark.parametrize(
    "kernel, shape",
    [
        (plain.block_sum(), (1000,)),
        (plain.block_sum(first_barrier=False), (1000,)),
        (plain.block_sum(loop_barrier=False), (1000,)),
        (plain.block_sum(atomic=False), (100,)),
    ],
)
def test_sums(kernel, shape):
    x = np.arange(*shape, dtype=np.float32)
    same(lambda mode: emulate(kernel, 3, plain.BLOCK, x.copy(), np.zeros(1, np.float32), mode=mode))


@pytest.mark.parametrize("choices", [{}, dict(in_place=True), dict(masked=False)], ids=str)
def test_stencils(choices):
    x = np.arange(150, dtype=np.float32)
    same(lambda mode: emulate(plain.stencil(**choices), 3, plain.BLOCK, x.copy(), np.zeros_like(x), mode=mode))


@pytest.mark.parametrize("choices", [dict(divergent=True), dict(early_return=True)], ids=str)
def test_barriers(choices):
    x = np.arange(100, dtype=np.float32)
    same(lambda mode: emulate(plain.reverse(**choices), 2, plain.BLOCK, x.copy(), np.zeros_like(x), mode=mode))


def test_results_of_correct_kernels_are_the_same_to_the_bit():
    reports = same(lambda mode: run_gemm(gemm(), nt=80, od=112, id=64, mode=mode)[0])
    assert all((report.outputs[2] == reports[0].outputs[2]).all() for report in reports)
