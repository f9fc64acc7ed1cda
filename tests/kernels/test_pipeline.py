"""Pipelines: steps that fit together, and what a run of them is."""

import re
from dataclasses import replace

import numpy as np
import pytest

from playground.compiler.arch import arch_named
from playground.compiler.build import build
from playground.emulator.workspace import EmulatedWorkspace
from playground.errors import Refusal
from playground.kernels import Pipeline, Step, convert_f32_f16, convert_gemm, gemm_f16_nt
from playground.kernels.contract import Tensor
from playground.kernels.gemm_f16_nt import GEMM_AF32_NT
from playground.measure.inputs import random_inputs

H200 = arch_named("H200")
PAIR = convert_gemm(TM=128)
CONVERT, GEMM = PAIR.steps
OVERWRITING = replace(CONVERT, bound={"x": "A", "y": "B"})
SQUARE = replace(GEMM_AF32_NT, emulated=({"nt": 64, "od": 64, "id": 64},))


def test_it_is_named_by_its_steps_and_has_the_parameters_of_all():
    assert str(PAIR) == f"{convert_f32_f16(8)} → {gemm_f16_nt(TM=128)}"
    assert PAIR.name == "convert_f32_f16 → gemm_f16_nt"
    assert PAIR.described == {"per_lane": 8} | gemm_f16_nt(TM=128).parameters


def test_a_parameter_that_two_steps_have_is_told_with_its_kernel():
    again = replace(PAIR, steps=(CONVERT, Step(convert_f32_f16(1), CONVERT.bound, CONVERT.derived), GEMM))
    assert again.described["convert_f32_f16.per_lane"] == 1
    assert "per_lane" not in again.described


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"steps": (GEMM, CONVERT)}, "gemm_f16_nt reads A16 before any step has written it"),
        ({"steps": (CONVERT,)}, "no step writes C"),
        ({"temporaries": ()}, "convert_f32_f16 takes A16, which is not one of A, B, C"),
        ({"steps": (Step(GEMM.kernel),)}, "A is float32, gemm_f16_nt takes it as float16"),
        ({"contract": SQUARE, "steps": (OVERWRITING, *PAIR.steps)}, "convert_f32_f16 overwrites B, an input"),
        (
            {"temporaries": (*PAIR.temporaries, Tensor("B", "float16", ("od", "id")))},
            "B is a tensor of gemm_af32_nt and",
        ),
        (
            {"temporaries": (Tensor("A16", "float16", ("nt", "od")),)},
            "A16 has shape (65, 264), convert_f32_f16 takes it as (8840,)",
        ),
    ],
)
def test_steps_that_do_not_fit_together_are_refused(changed, message):
    """The contract's first shape to emulate is 65×264×136: A has 8840 elements."""
    with pytest.raises(Refusal, match=re.escape(message)):
        replace(PAIR, **changed)


def test_a_binding_of_no_tensor_is_refused():
    with pytest.raises(Refusal, match="has no a to bind: its tensors are A, B, C"):
        Step(GEMM.kernel, {"a": "A16"})


def test_dimensions_that_a_step_cannot_do_are_refused():
    dims = {"nt": 2**16, "od": 8, "id": 2**15}
    GEMM_AF32_NT.check_dimensions(dims)
    with pytest.raises(Refusal, match="convert_f32_f16: n = 2147483648 is not between 1 and 2147483647"):
        CONVERT.dimensions(dims)


def test_a_run_is_its_steps_in_turn_with_their_counts_together():
    dims = {"nt": 65, "od": 130, "id": 136}
    inputs = random_inputs(GEMM_AF32_NT, dims, seed=1)
    whole = EmulatedWorkspace(GEMM_AF32_NT, inputs).run(build(PAIR, H200))
    parts = [
        EmulatedWorkspace(step.kernel.contract, given).run(build(step.kernel, H200))
        for step, given in (
            (CONVERT, {"x": inputs["A"].reshape(-1)}),
            (GEMM, {"A": inputs["A"].astype(np.float16), "B": inputs["B"]}),
        )
    ]
    assert np.array_equal(whole.outputs["C"], parts[1].outputs["C"])
    assert whole.hazards == []
    for name in ("inst_executed", "barriers", "mma_flop", "global_store_sectors", "shared_load_wavefronts"):
        assert whole.counts[name] == sum(part.counts[name] for part in parts), name
    loaded, sectors = (sum(part.counts[f"global_load_{what}"] for part in parts) for what in ("bytes", "sectors"))
    assert whole.counts["global_load_utilisation"] == loaded / (32 * sectors)
    assert whole.counts["shared_load_conflict_degree"] == parts[1].counts["shared_load_conflict_degree"]


def test_a_step_that_leaves_a_temporary_unwritten_is_seen():
    """Poison in it comes out as NaN, as it would of an output."""
    idle = replace(CONVERT.kernel, grid=lambda n: (2, 1, 1))  # 4096 of 8840 elements: 30 of 65 rows
    short = Pipeline(GEMM_AF32_NT, (replace(CONVERT, kernel=idle), GEMM), PAIR.temporaries)
    inputs = random_inputs(GEMM_AF32_NT, {"nt": 65, "od": 8, "id": 136}, seed=1)
    C = EmulatedWorkspace(GEMM_AF32_NT, inputs).run(build(short, H200)).outputs["C"]
    assert np.array_equal(np.isnan(C).any(axis=1), np.arange(65) >= 30)


def test_what_a_gpu_cannot_hold_of_a_step_is_refused_with_the_step():
    with pytest.raises(Refusal, match=r"^convert_f32_f16\(per_lane=8\) needs sm_80 or later"):
        build(PAIR, arch_named("T4"))
    with pytest.raises(Refusal, match=r"^gemm_f16_nt\(TM=256, KS=96.*needs 139,264 bytes"):
        build(convert_gemm(TM=256, KS=96), arch_named("GB10"))
