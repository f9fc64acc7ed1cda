"""What users do to a command line that is none of its business: close it, fill it, interrupt it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from playground import Probe
from playground.errors import Refusal
from playground.kernels import convert_f32_f16, gemm_f16_nt
from playground.measure import verdict
from playground.report import record
from playground.shapes import Shape, gemm

ROOT = Path(__file__).parents[1]
RUN = [sys.executable, "-m", "playground", "run", "gemm_tm128", "--on", "emulator", "--shape", "8x64x32", "--out"]


def start(*arguments, **options):
    return subprocess.Popen(arguments, cwd=ROOT, stderr=subprocess.PIPE, text=True, **options)


def test_a_listener_that_leaves_does_not_lose_the_record(tmp_path):
    run = start(*RUN, str(tmp_path), stdout=subprocess.PIPE)
    run.stdout.readline()
    run.stdout.close()
    assert run.wait(timeout=120) == 0, run.stderr.read()
    records, warnings = record.read(tmp_path / "emulator" / "gemm_tm128.jsonl")
    assert (len(records), warnings) == (1, [])


def test_a_full_standard_output_is_one_line():
    with open("/dev/full", "w") as full:
        listing = start(sys.executable, "-m", "experiments", stdout=full)
        assert listing.wait(timeout=60) == 2
    assert listing.stderr.read().splitlines() == ["experiments: cannot write the output: No space left on device"]


def test_an_interrupted_run_is_one_line(tmp_path):
    run = start(*RUN, str(tmp_path), stdout=subprocess.PIPE)
    run.stdout.readline()  # the question: the run has begun
    time.sleep(0.2)
    run.send_signal(signal.SIGINT)
    assert run.wait(timeout=60) == 130
    assert run.stderr.read().splitlines()[-1] == "playground: interrupted: this run leaves no record"


def test_a_locale_without_our_letters_is_no_obstacle():
    environment = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    listing = start(sys.executable, "-m", "experiments", stdout=subprocess.PIPE, env=environment)
    output, errors = listing.communicate(timeout=60)
    assert (listing.returncode, errors) == (0, "")
    assert "gemm_tm128" in output


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"candidates": []}, "at least one other kernel"),
        ({"candidates": [gemm_f16_nt(TM=64)]}, "each once"),
        ({"candidates": [convert_f32_f16()]}, "computes convert_f32_f16, the baseline gemm_nt"),
        ({"bar": float("nan")}, "the bar is nan"),
        ({"bar": 0.0}, "the bar is 0.0"),
        ({"shapes": [Shape({"nt": 8, "od": 8})]}, "the dimensions are nt, od, id, not nt, od"),
        ({"shapes": [gemm(8, 8, 12)]}, "id = 12 is not a multiple of 8"),
    ],
)
def test_a_probe_that_compares_nothing_is_refused(changed, message):
    valid = {
        "question": "?", "baseline": gemm_f16_nt(TM=64), "candidates": [gemm_f16_nt()], "shapes": [gemm(8, 8, 8)],
    }  # fmt: skip
    assert Probe(**valid | {"candidates": (kernel for kernel in [gemm_f16_nt()])}).kernels[1:]
    with pytest.raises(Refusal, match=message):
        Probe(**valid | changed)


@pytest.mark.parametrize(
    ("factory", "parameters", "message"),
    [
        (gemm_f16_nt, {"KS": 32.0}, "KS = 32.0 is of type float, not int"),
        (gemm_f16_nt, {"TM": "128"}, "TM = '128' is of type str, not int"),
        (gemm_f16_nt, {"pad": None}, "pad = None is of type NoneType, not int"),
        (convert_f32_f16, {"per_lane": True}, "per_lane = True is not one of 1, 4, 8"),
    ],
)
def test_a_parameter_of_another_type_is_refused(factory, parameters, message):
    with pytest.raises(Refusal, match=message):
        factory(**parameters)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0, -1.0])
def test_a_sample_that_is_no_time_never_lands_a_candidate(bad):
    candidate = np.r_[np.full(19, 0.5), bad]
    assert verdict.judge(np.ones(20), candidate, np.ones(20)).verdict == verdict.INCONCLUSIVE
