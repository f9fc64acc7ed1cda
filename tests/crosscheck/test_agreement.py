"""The emulator's counts against those that Nsight Compute took on a GPU: the committed record."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import experiments
from playground.compiler.arch import ARCHS
from playground.compiler.build import build
from playground.crosscheck import agreement, launches
from playground.emulator.workspace import EmulatedWorkspace
from playground.errors import Refusal
from playground.kernels import convert_f32_f16, fa_prefill, gemm_f16_nt
from playground.measure.inputs import random_inputs
from playground.report import record

RECORDS = Path(__file__).parents[2] / "results" / "nvidia-h200" / "emulator_agreement.jsonl"
EXACT = ("shared_store_wavefronts", "global_load_sectors", "global_store_sectors", "hmma")
KERNELS = (
    gemm_f16_nt(TM=128),
    gemm_f16_nt(TM=128, pad=8),
    fa_prefill(softmax="rows", pv="wmma", pad=8),
    fa_prefill(softmax="registers", TKV=32, pad=8),
)


@pytest.fixture(scope="module")
def latest():
    return record.read(RECORDS)[0][-1]


def test_the_record_holds_every_kernel_and_all_outputs_agreed(latest):
    assert sorted(kernel["label"] for kernel in latest["kernels"]) == sorted(map(str, experiments.kernels()))
    assert agreement.within_bounds(latest)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_counts_are_the_profilers(kernel, latest):
    inputs = random_inputs(kernel.contract, kernel.contract.emulated[-1], launches.SEED)
    outcome = EmulatedWorkspace(kernel.contract, inputs).run(build(kernel, ARCHS["sm_90"]))
    (theirs,) = (each["ncu"] for each in latest["kernels"] if each["label"] == str(kernel))
    ours = agreement.counted(outcome.counts)
    assert {name: ours[name] for name in EXACT} == {name: theirs[name] for name in EXACT}
    assert ours["shared_load_wavefronts"] == pytest.approx(theirs["shared_load_wavefronts"], rel=0.05)


def test_the_launches_of_a_pipeline_are_counted_together(monkeypatch):
    rows = [f'"{launch}","{metric}","{launch + 1},000"' for launch in range(3) for metric in agreement.METRICS.values()]
    printed = "\n".join(['"ID","Metric Name","Metric Value"', *rows])
    monkeypatch.setattr(agreement.shutil, "which", lambda name: name)
    ran = SimpleNamespace(returncode=0, stdout=printed, stderr="")
    monkeypatch.setattr(launches.subprocess, "run", lambda *arguments, **options: ran)
    one, two = agreement.profile([1, 2])
    assert set(one.values()) == {1000}
    assert set(two.values()) == {2000 + 3000}
    with pytest.raises(Refusal, match="ncu saw 3 launches, of 4"):
        agreement.profile([2, 2])


def test_a_comparison_is_a_whole_record_and_sees_an_output_that_differs(monkeypatch):
    """The emulator stands in for the GPU, and is off by two units in the last place of the second kernel."""
    kernels = (convert_f32_f16(), gemm_f16_nt())

    def on_gpu(device, kernel, dims):
        outcome = launches.emulated(device, kernel, dims)
        ((name, values),) = outcome.outputs.items()
        off = 2 * np.spacing(np.abs(values).max()) if kernel is kernels[1] else 0
        return replace(outcome, outputs={name: values + off})

    monkeypatch.setattr(launches, "on_gpu", on_gpu)
    monkeypatch.setattr(agreement.shutil, "which", lambda name: None)
    device = SimpleNamespace(name="a GPU", arch=ARCHS["sm_90"], sms=132, l2=2**20, driver_version=13000)
    found = agreement.compare(device, kernels)
    assert found.keys() >= record.KINDS["agreement with a GPU"] | {"time"}
    assert [kernel["max_ulp"] for kernel in found["kernels"]] == [0, 2]
    assert [kernel["ncu"] for kernel in found["kernels"]] == [None, None]
    assert agreement.within_bounds(found)
