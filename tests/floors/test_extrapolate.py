"""Counts of large launches from small ones: against direct emulation, and against hand-derived counts."""

from dataclasses import replace
from fractions import Fraction

import pytest

from playground.compiler.arch import arch_named
from playground.compiler.build import build
from playground.emulator.workspace import EmulatedWorkspace
from playground.errors import Refusal
from playground.floors.extrapolate import Extrapolation, axes_of
from playground.floors.polynomial import interpolate
from playground.floors.work import work_of
from playground.kernels import add_bias, convert_f32_f16, fa_prefill, gemm_f16_nt, rms_norm, rope, store_kv_f16, swiglu
from playground.measure.inputs import random_inputs

H200 = arch_named("H200")


def inputs(contract, dims):
    return random_inputs(contract, dims, seed=0)


def extrapolated(kernel, dims):
    return Extrapolation(build(kernel, H200), inputs).work(dims)


def test_a_polynomial_is_found_again_exactly():
    """x² y − 3 y + 5 from three and two places, at a far one."""
    polynomial = lambda x, y: x**2 * y - 3 * y + 5  # noqa: E731
    axes = ((1, 4, 7), (2, 9))
    values = {(x, y): polynomial(x, y) for x in axes[0] for y in axes[1]}
    assert interpolate(axes, values, (10**9, 12_345)) == Fraction(polynomial(10**9, 12_345))


@pytest.mark.parametrize(
    ("kernel", "dims"),
    [
        (gemm_f16_nt(TM=64), {"nt": 320, "od": 256, "id": 448}),
        (gemm_f16_nt(TM=128, KS=32, pad=8), {"nt": 257, "od": 392, "id": 328}),
        (fa_prefill(softmax="registers", TKV=32, pad=8), {"nt": 64, "nh": 4, "nk": 2, "kv": 320}),
        (fa_prefill(softmax="rows"), {"nt": 321, "nh": 1, "nk": 1, "kv": 321}),
        (convert_f32_f16(per_lane=4), {"n": 9999}),
        (gemm_f16_nt(AF32="mirror"), {"nt": 257, "od": 136, "id": 200}),
        (store_kv_f16(per_lane=4), {"nt": 100, "nkt": 2048, "slots": 300}),
        (store_kv_f16(per_lane=4, grid="flat"), {"nt": 150, "nkt": 515, "slots": 200}),
        (store_kv_f16(per_lane=8, grid="flat"), {"nt": 150, "nkt": 1000, "slots": 200}),
        (rms_norm("f16"), {"nt": 40, "id": 3584}),
        (rope(), {"nt": 16, "nh": 100}),
        (swiglu(), {"n": 9999}),
        (add_bias(), {"nt": 40, "od": 1111}),
    ],
    ids=str,
)
def test_the_work_is_what_emulating_the_whole_launch_counts(kernel, dims):
    assert any(axis.at > axis.check for axis in axes_of(kernel, dims))
    counted = EmulatedWorkspace(kernel.contract, inputs(kernel.contract, dims)).report(
        build(kernel, H200), checks=False
    )
    assert extrapolated(kernel, dims) == work_of(counted.counts)


def test_the_work_of_a_large_gemm_is_the_hand_derived_one():
    """896 blocks of 112 steps; a step: 96 rows of 128 bytes to stage, and of 8 warps 2 × 4 fragments of 16 wavefronts.

    A fragment is loaded in 4 phases, each 4-way conflicted by rows of 64 bytes. 32 fragments of C go through scratch:
    16 wavefronts in, 8 out.
    """
    work = extrapolated(gemm_f16_nt(TM=128, KS=32), {"nt": 2048, "od": 3584, "id": 3584})
    assert work["shared_wavefronts"] == 896 * (112 * (96 + 8 * 2 * 4 * 16) + 32 * (16 + 8))
    assert work["wmma_flop"] == 2 * 2048 * 3584 * 3584
    assert work["copied"] == 896 * 112 * (64 + 128) * 64
    assert work["stored"] == 4 * 2048 * 3584


def test_counts_that_do_not_follow_the_stated_degrees_are_refused():
    """Causal attention's work grows with the square of nt: told that it is linear, the check must notice."""
    built = build(fa_prefill(softmax="registers", TKV=32), H200)
    linear = replace(built.kernel.contract, degrees={"nk": 0})
    wrong = replace(built, kernel=replace(built.kernel, contract=linear))
    with pytest.raises(Refusal, match=r"its counts at .* are not what smaller ones tell: .*wmma_flop"):
        Extrapolation(wrong, inputs).work({"nt": 2048, "nh": 28, "nk": 4, "kv": 2048})


def test_a_kernel_that_states_no_period_is_refused():
    kernel = replace(convert_f32_f16(), period={})
    with pytest.raises(Refusal, match="it states no period of n: its counts cannot be extrapolated"):
        axes_of(kernel, {"n": 1 << 20})
