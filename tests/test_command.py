"""The command lines: exit status 0, 1 or 2, one line for each refusal, and nothing pretended without a GPU."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import experiments
from playground.__main__ import main
from playground.commands import run
from playground.compiler.arch import arch_named
from playground.compiler.build import build
from playground.kernels import gemm_f16_nt
from playground.measure import parity
from playground.measure.references import Expected
from playground.report import record
from playground.runner import Outcome

ROOT = Path(__file__).parents[1]
LEDGER = ("ledger", "gemm_f16_nt")
TINY = ("--on", "emulator", "--json", "--shape", "8x64x32")


def python(*arguments):
    """`python -m <arguments>` in the checkout, on a machine whose GPUs are hidden."""
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    typed = [sys.executable, "-m", *map(str, arguments)]
    return subprocess.run(typed, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)


def refusal(arguments, capsys):
    """The one line that a refused command says."""
    assert main([str(argument) for argument in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err


@pytest.fixture(scope="module")
def one_run(tmp_path_factory):
    """A results folder with the record of one run without a GPU."""
    folder = tmp_path_factory.mktemp("results")
    assert main(["run", "gemm_tm128", "--on", "emulator", "--json", "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def results(one_run, tmp_path):
    """A copy of `one_run`."""
    return shutil.copytree(one_run, tmp_path / "results")


# ------------------------------------------------------------------------------------------------------ as one types it


def test_a_probe_runs_without_a_gpu_emulated_and_says_that_it_was_not_timed(tmp_path):
    ran = python("experiments.gemm_tm128", "--out", tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    assert "not timed: no GPU" in ran.stdout
    gates = [line for line in ran.stdout.splitlines() if line.startswith("parity ")]
    assert gates
    assert all(" held: " in line for line in gates)
    assert "\x1b" not in ran.stdout
    gb10 = next(line for line in ran.stdout.splitlines() if "TM=128" in line and " sm_121 " in line)
    assert gb10.split()[-3:] == ["3", "shared", "memory"]
    assert (tmp_path / "emulator" / "gemm_tm128.jsonl").exists()
    assert (tmp_path / "emulator" / "gemm_tm128.png").read_bytes().startswith(b"\x89PNG")
    for path in ("gemm_tm128.jsonl", "gemm_tm128.png"):
        assert str(tmp_path / "emulator" / path) in ran.stdout


def test_json_is_the_record_and_nothing_else_on_standard_output(tmp_path):
    ran = python("experiments.gemm_tm128", "--json", "--out", tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("\n") == 1
    printed = json.loads(ran.stdout)
    (written,), _ = record.read(tmp_path / "emulator" / "gemm_tm128.jsonl")
    assert {"schema": record.SCHEMA, **printed} == written
    assert (printed["probe"], printed["gpu"]) == ("gemm_tm128", None)
    assert (printed["shapes"], printed["verdicts"]) == ([], {})
    assert all(gate["passed"] for run in printed["emulated"] for gate in run["parity"].values())
    assert not any(hazards for run in printed["emulated"] for hazards in run["hazards"].values())
    ledgers = printed["variants"][1]["ledgers"]
    assert ledgers["GB10"]["arch"] == "sm_121"
    assert ledgers["GB10"]["dynamic_shared"] == 32_768
    assert ledgers["H200"]["arch"] == "sm_90"


def test_a_run_on_a_gpu_that_is_not_there_is_refused_in_one_line(tmp_path):
    ran = python("experiments.gemm_tm128", "--on", "gpu", "--out", tmp_path)
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert re.fullmatch(r"gemm_tm128: no GPU: [^\n]+\n", ran.stderr)
    assert list(tmp_path.iterdir()) == []


def test_the_list_has_every_probe_with_its_claim(tmp_path):
    ran = python("experiments", "--out", tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    assert "\x1b" not in ran.stdout
    for name in experiments.names():
        (line,) = [line for line in ran.stdout.splitlines() if line.split()[0] == name]
        if claim := experiments.load(name).claim:
            assert f"{claim.effect:+.0%}" in line
            assert claim.gpu in line
            assert claim.verdict in line


# ------------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(("run", "gemm_tm12"), "unknown probe 'gemm_tm12': did you mean gemm_tm128?", id="unknown probe"),
        pytest.param(("run", "gemm_tm128", "--shape", "3x4"), "--shape '3x4'", id="shape too short"),
        pytest.param(("run", "gemm_tm128", "--shape", "3x4x8x1"), "--shape '3x4x8x1'", id="shape too long"),
        pytest.param(("run", "gemm_tm128", "--shape", "3x-4x8"), "--shape '3x-4x8'", id="shape negative"),
        pytest.param(("run", "gemm_tm128", "--shape", "3x4x8.0"), "--shape '3x4x8.0'", id="shape not whole"),
        pytest.param(("run", "gemm_tm128", "--shape", "3x4x12"), "id = 12 is not a multiple of 8", id="id"),
        pytest.param(("run", "gemm_tm128", "--shape", "0x4x8"), "nt = 0 is not between 1", id="empty nt"),
        pytest.param(("run", "gemm_tm128", "--shape", "1x1x4294967296"), "id = 4294967296", id="id beyond int32"),
        pytest.param(
            ("check", "convert_f32_f16", "--shape", "2147483647"),
            "0.0e+00 FLOP on 4.3e+09 elements are too",
            id="large",
        ),
        pytest.param(("run", "gemm_tm128", "--on", "moon"), "moon", id="unknown runner"),
        pytest.param(("run", "gemm_tm128", "--sed", "x", "--frob"), "--frob", id="unknown option"),
        pytest.param(("frobnicate",), "frobnicate", id="unknown command"),
        pytest.param((), "there are list, run, plots", id="no command"),
        pytest.param((*LEDGER, "--TM", "100"), "TM = 100 is not a positive multiple of 64", id="TM"),
        pytest.param((*LEDGER, "--KS", "48"), "KS = 48 is not a positive multiple of 32", id="KS"),
        pytest.param((*LEDGER, "--pad", "4"), "pad = 4 is not a multiple of 8", id="pad"),
        pytest.param((*LEDGER, "--warps", "7"), "7 warps over TM = 128", id="warps"),
        pytest.param((*LEDGER, "--TM", "many"), "many", id="no number"),
        pytest.param((*LEDGER, "--arch", "sm_91"), "unknown architecture 'sm_91': did you mean sm_90?", id="arch"),
        pytest.param((*LEDGER, "--arch", "sm_75"), "needs sm_80 or later", id="arch too old"),
        pytest.param(("ledger", "gemm_f16_n"), "gemm_f16_n", id="unknown kernel"),
        pytest.param((*LEDGER, "--TM", "192", "--KS", "96", "--arch", "GB10"), "106,496", id="shared memory: needed"),
        pytest.param((*LEDGER, "--TM", "192", "--KS", "96", "--arch", "GB10"), "101,376", id="shared memory: limit"),
    ],
)
def test_what_cannot_run_is_refused_in_one_line_with_the_numbers(arguments, says, capsys, tmp_path):
    if arguments[:1] == ("run",):
        arguments = (*arguments, "--out", tmp_path)
    assert says in refusal(arguments, capsys)


def test_results_that_cannot_be_written_are_refused_before_the_work(tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    line = refusal(("run", "gemm_tm128", "--on", "emulator", "--out", tmp_path / "file"), capsys)
    assert f"cannot write results to {tmp_path / 'file'}" in line


def test_plots_without_any_record_are_refused(tmp_path, capsys):
    assert f"no record of any probe in {tmp_path}" in refusal(("plots", "--out", tmp_path), capsys)
    assert "no record of gemm_tm256" in refusal(("plots", "gemm_tm256", "--out", tmp_path), capsys)


@pytest.mark.parametrize("arguments", [("list",), ("plots",)])
def test_a_record_of_a_newer_schema_is_refused(arguments, results, capsys):
    path = results / "emulator" / "gemm_tm128.jsonl"
    newer = record.SCHEMA + 1
    path.write_text(path.read_text() + json.dumps({"schema": newer}) + "\n")
    capsys.readouterr()
    line = refusal((*arguments, "--out", results), capsys)
    assert f"{path}:2: " in line
    assert f"schema {newer}" in line


# ---------------------------------------------------------------------------------------------------- records, pictures


@pytest.mark.parametrize("arguments", [("list",), ("plots",)])
def test_a_torn_last_line_is_read_past_and_named(arguments, results, capsys):
    path = results / "emulator" / "gemm_tm128.jsonl"
    path.write_text(path.read_text() + '{"schema": 1, "tim')
    capsys.readouterr()
    assert main([*arguments, "--out", str(results)]) == 0
    captured = capsys.readouterr()
    assert captured.err.startswith(f"{path}:2: ")
    assert captured.err.count("\n") == 1
    assert "gemm_tm128" in captured.out


def test_plots_redraws_the_same_picture_from_the_record_alone(results, capsys, monkeypatch):
    picture = results / "emulator" / "gemm_tm128.png"
    drawn = picture.read_bytes()
    picture.unlink()
    monkeypatch.setattr("playground.compiler.build.build", None)  # nothing is built
    capsys.readouterr()
    assert main(["plots", "--out", str(results)]) == 0
    assert capsys.readouterr().out == f"{picture}\n"
    assert picture.read_bytes() == drawn


def test_plot_only_redraws_and_does_not_run(results, capsys):
    picture = results / "emulator" / "gemm_tm128.png"
    picture.unlink()
    capsys.readouterr()
    assert main(["run", "gemm_tm128", "--plot-only", "--out", str(results)]) == 0
    assert capsys.readouterr().out == f"{picture}\n"
    assert picture.exists()
    records, _ = record.read(picture.with_suffix(".jsonl"))
    assert len(records) == 1


def test_a_gate_that_failed_is_exit_status_1_and_is_recorded_and_drawn(tmp_path, monkeypatch, capsys):
    """The record of a run on a GPU whose candidate left all of its output unwritten."""
    from playground import walk

    def failed(name, probe, run, narrator):
        expected = {"C": Expected(np.ones((64, 64)), np.ones((64, 64)), "a test")}
        right, unwritten = Outcome({"C": np.ones((64, 64))}), Outcome({"C": np.full((64, 64), np.nan)})
        outcomes = zip(probe.kernels, (right, unwritten))
        gates = {str(kernel): parity.check(outcome, expected).as_record() for kernel, outcome in outcomes}
        dims = {"nt": 64, "od": 64, "id": 8}
        shape = {"dims": dims, "roles": ["q"], "flop": 65536, "unit": "TFLOP/s", "seed": 1, "inputs": "ones"}
        return {**without_gpu(name, probe, run, narrator), "shapes": [{**shape, "parity": gates}]}

    without_gpu = walk.walk
    monkeypatch.setattr(walk, "walk", failed)
    assert main(["run", "gemm_tm128", *TINY, "--out", str(tmp_path)]) == 1
    capsys.readouterr()
    (written,), _ = record.read(tmp_path / "emulator" / "gemm_tm128.jsonl")
    assert [gate["passed"] for gate in written["shapes"][0]["parity"].values()] == [True, False]
    assert (tmp_path / "emulator" / "gemm_tm128.png").exists()


def test_the_counts_mark_the_mechanisms_of_a_wider_tile(results):
    """Each of 256 rows of B is read by 128/64 blocks whatever TM is; each of 128 rows of A by 256/TM: seed 000, §2.1,
    has it the other way round."""
    (written,), _ = record.read(results / "emulator" / "gemm_tm128.jsonl")
    marks = {one["says"]: one["marks"] for one in written["mechanisms"]}
    assert marks["a wider tile halves the re-reads of B per FLOP"] == [
        {"gpu": None, "mark": "refuted", "values": [15.625, 15.625]}
    ]
    assert marks["it is A, not B, whose re-reads a wider tile halves"] == [
        {"gpu": None, "mark": "supported", "values": [15.625, 7.8125]}
    ]
    counts = list(written["emulated"][-1]["counts"].values())
    assert [one["global_bytes_read_of_A"] for one in counts[:2]] == [2 * 128 * 512 * 4, 2 * 128 * 512 * 2]
    assert [one["global_bytes_read_of_B"] for one in counts[:2]] == [2 * 256 * 512 * 2] * 2
    assert [one["label"] for one in written["controls"]] == [
        str(one) for one in experiments.load("gemm_tm128").controls
    ]


def test_a_second_run_is_appended(results):
    assert main(["run", "gemm_tm128", *TINY, "--out", str(results)]) == 0
    records, warnings = record.read(results / "emulator" / "gemm_tm128.jsonl")
    assert (len(records), warnings) == (2, [])


@pytest.mark.parametrize(("shape", "known"), [((), True), (("--shape", "1024"), False)])
def test_the_share_of_the_wall_is_that_of_the_probes_own_shapes(shape, known, tmp_path, capsys):
    probe = "elementwise_vectorized_convert"
    assert main(["run", probe, "--on", "emulator", "--json", *shape, "--out", str(tmp_path)]) == 0
    share = vars(experiments.load(probe).share)
    assert json.loads(capsys.readouterr().out)["share"] == (share if known else None)


def test_the_ledger_prints_a_row_per_architecture(capsys):
    assert main([*LEDGER, "--TM", "128", "--KS", "64", "--arch", "sm_121,sm_90"]) == 0
    captured = capsys.readouterr()
    rows = [line for line in captured.out.splitlines() if "TM=128, KS=64, warps=8, pad=0" in line]
    assert [re.search(r"sm_\d+", row).group() for row in rows] == ["sm_121", "sm_90"]
    assert all("57,344 B" in row and " 0 B " in row for row in rows)
    assert rows[0].split()[-3:] == ["1", "shared", "memory"]
    assert captured.err == ""


def test_the_instruction_mix_is_printed_on_request(capsys):
    if build(gemm_f16_nt(), arch_named("sm_90")).ledger.instruction_mix is None:
        pytest.skip("nvdisasm was not found (pip install nvidia-cuda-nvdisasm)")
    assert main([*LEDGER, "--TM", "128", "--arch", "sm_90", "--mix"]) == 0
    assert re.search(r"HMMA\.16816\.F32 +\d+", capsys.readouterr().out)


# ------------------------------------------------------------------------------------------------------------- on a GPU


def options(*arguments):
    parser = argparse.ArgumentParser()
    run.add_run_options(parser)
    return parser.parse_args([str(argument) for argument in arguments])


@pytest.mark.gpu
def test_a_probe_on_a_gpu_ends_in_a_verdict(device, tmp_path, capsys):
    probe = experiments.load("gemm_tm128")
    arguments = options("--on", "gpu", "--quick", "--json", "--shape", "256x512x512", "--out", tmp_path)
    assert run.run_probe("gemm_tm128", probe, arguments) == 0
    printed = json.loads(capsys.readouterr().out)
    (result,) = printed["shapes"]
    assert result["dims"] == {"nt": 256, "od": 512, "id": 512}
    assert all(gate["passed"] for gate in result["parity"].values())
    assert set(result["samples_us"]) >= {*(str(kernel) for kernel in probe.kernels), "A/A"}
    assert len({len(samples) for samples in result["samples_us"].values()}) == 1
    verdicts = {"landed", "reverted", "no difference", "inconclusive"}
    assert {judged["verdict"] for judged in printed["verdicts"].values()} <= verdicts
    assert list(printed["verdicts"]) == [str(candidate) for candidate in probe.candidates]
    (written,), _ = record.read(tmp_path / device.slug / "gemm_tm128.jsonl")
    assert written["gpu"]["name"] == device.name
    assert (tmp_path / device.slug / "gemm_tm128.png").exists()


@pytest.mark.gpu
def test_a_candidate_that_leaves_output_unwritten_fails_its_gate_with_status_1(device, tmp_path, capsys):
    probe = experiments.load("gemm_tm128")
    (candidate, *_) = probe.candidates
    broken = replace(candidate, parameters={**candidate.parameters, "broken": 1}, grid=lambda nt, od, id: (1, 1, 1))
    arguments = options("--on", "gpu", "--quick", "--json", "--shape", "256x512x512", "--out", tmp_path)
    assert run.run_probe("broken", replace(probe, candidates=[broken]), arguments) == 1
    printed = json.loads(capsys.readouterr().out)
    gate = printed["shapes"][0]["parity"][str(broken)]
    assert gate["passed"] is False
    assert gate["not_finite"] == 256 * 512 - 64 * 128
    assert printed["verdicts"] == {}
    assert str(broken) not in printed["shapes"][0].get("samples_us", {})
