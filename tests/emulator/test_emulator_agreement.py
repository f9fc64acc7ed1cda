"""The emulator's counts against those that Nsight Compute took on a GPU: the committed record."""

from pathlib import Path

import pytest

from playground import agreement
from playground.compiler.arch import ARCHS
from playground.compiler.build import build
from playground.emulator.runner import EmulatedWorkspace
from playground.measure.inputs import random_inputs
from playground.report import record

RECORDS = Path(__file__).parents[2] / "results" / "nvidia-h200" / "emulator_agreement.jsonl"
LATEST = {kernel["label"]: kernel for kernel in record.read(RECORDS)[0][-1]["kernels"]}
EXACT = ("shared_store_wavefronts", "global_load_sectors", "global_store_sectors", "hmma")


def test_the_record_holds_every_kernel_and_all_outputs_agreed():
    assert list(LATEST) == [str(kernel) for kernel in agreement.KERNELS]
    for kernel in LATEST.values():
        assert kernel["max_ulp"] <= agreement.BOUNDS["gemm_nt" if "gemm" in kernel["label"] else "attention_hd128"]


@pytest.mark.parametrize("kernel", [agreement.KERNELS[place] for place in (1, 2, 9, 11)], ids=str)
def test_counts_are_the_profilers(kernel):
    inputs = random_inputs(kernel.contract, kernel.contract.emulated[-1], agreement.SEED)
    outcome = EmulatedWorkspace(kernel.contract, inputs).run(build(kernel, ARCHS["sm_90"]))
    ours, theirs = agreement.counted(outcome.counts), LATEST[str(kernel)]["ncu"]
    assert {name: ours[name] for name in EXACT} == {name: theirs[name] for name in EXACT}
    assert ours["shared_load_wavefronts"] == pytest.approx(theirs["shared_load_wavefronts"], rel=0.05)
