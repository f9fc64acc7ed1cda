"""Every mistake is caught by its gate, at the line where it shows; done right, the gate is silent."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from experiments import pitfalls
from experiments.pitfalls import _report, b_offset_by_rows, no_control, silent_fallback
from experiments.pitfalls.__main__ import main
from experiments.pitfalls._edit import Edit
from experiments.pitfalls._pitfall import COUNTS, HAZARD, LEDGER, LIMITS, PARITY, STATISTICS
from experiments.pitfalls._wrong_kernel import WrongKernel
from playground.emulator import hazards
from playground.errors import Refusal
from playground.kernels import add_bias
from playground.report import record

ROOT = Path(__file__).parents[3]

CAUGHT = {
    "b_offset_by_rows": (PARITY, "max error", "load_b_col"),
    "half_of_k": (PARITY, "max error", "for k in range(KS // FRAGMENT)"),
    "both_row_major": (PARITY, "max error", "load_b_col(fb, Ks"),
    "bare_barrier": (HAZARD, hazards.ASYNC_READ, "load_b_col(fb, Ks"),
    "staging_stride": (HAZARD, hazards.UNINITIALISED, "load_b_col(fb, Ks"),
    "contiguous_masks": (PARITY, "max error", "column_of(lane, element)"),
    # seed 000, §3.3: a cap of 99 KB per block. Q, 2 K, 2 V in 272-byte rows, S in f32, three values per row.
    "silent_fallback": (LIMITS, f"needs {5 * 64 * 272 + 64 * 64 * 4 + 3 * 256:,} bytes", "raise Refusal"),
    # seed 001, §2: "128·136·2 = 34,816 B, blocks go 1 → 2/SM"
    "launcher_formula": (LEDGER, "52,224 bytes per block for a layout of 34,816: 2 → 1 blocks/SM on GB10", "def"),
    "forgotten_write_back": (HAZARD, hazards.SHARED_BOUNDS, "load_shared_f32(staging"),
    "unpadded_rows": (COUNTS, "conflict 8-way", "load_a_row(fa, Qs"),
    "missing_barrier": (HAZARD, hazards.WRITE_AFTER_READ, "copy("),
    "no_control": (STATISTICS, "a kernel differs from itself by more than 1.5%", "def _decide"),
    "zero_inputs": (PARITY, "refused: the tolerance of C is not positive everywhere", "raise ValueError"),
    "warm_cache": (LIMITS, "44,040,192 bytes of a launch fit", "def touched"),  # 2048 · 3584 · (4 + 2)
}


@pytest.mark.parametrize("name", pitfalls.NAMES)
def test_the_mistake_is_caught_where_it_shows(name):
    gate, symptom, line = CAUGHT[name]
    found = pitfalls.examine(name)
    assert found["caught"] and found["gate"] == gate
    assert symptom in found["symptom"]
    file, number = found["where"].split(":")
    assert line in (ROOT / file).read_text().splitlines()[int(number) - 1]
    assert gate not in {objection["gate"] for objection in found["right"]}
    if name in ("missing_barrier", "unpadded_rows", "launcher_formula"):
        assert PARITY not in {objection["gate"] for objection in found["wrong"]}, "the result is right"


def test_there_is_one_module_for_each_name():
    folder = Path(pitfalls.__file__).parent
    assert sorted(path.stem for path in folder.glob("[!_]*.py")) == sorted(pitfalls.NAMES)


@pytest.fixture
def harmless(monkeypatch):
    """A pitfall whose mistake is none: one word for another in a docstring."""
    dims = {"nt": 1, "od": 64}
    edit = Edit(module="playground.kernels.elementwise.add_bias", right="the same array", wrong="one array")
    pair = WrongKernel(compose=lambda: add_bias(), edit=edit, emulated=dims, launched=dims)
    found = pair.pitfall(mistake="another word", source="no source", gate=PARITY)
    monkeypatch.setattr(b_offset_by_rows, "pitfall", found)


def test_a_mistake_that_is_none_is_not_caught_and_exits_with_1(harmless, tmp_path, capsys):
    assert main(["b_offset_by_rows", "--on", "emulator", "--out", str(tmp_path)]) == 1
    assert "NOT CAUGHT by parity" in capsys.readouterr().out
    (kept,), _ = record.read(tmp_path / "emulator" / "pitfalls.jsonl")
    assert not kept["pitfalls"][0]["caught"]


def test_a_gate_that_objects_to_the_correct_kernel_too_has_caught_nothing():
    found = no_control.examine()
    assert found.caught_by(STATISTICS)
    alike = type(found)(wrong=found.wrong, right=found.wrong, where=found.where)
    assert alike.caught_by(STATISTICS) is None and alike.told_apart == []


def test_an_edit_is_in_force_only_while_it_lasts():
    with silent_fallback.TWO_BUFFERS.in_force():
        doubled = silent_fallback.wanted().layout
    assert doubled["K"].bytes == 2 * silent_fallback.wanted().layout["K"].bytes == 2 * 64 * 272


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("no such line", "another", "0 times, expected 1"),
        ("cuda.syncwarp()", "pass", "2 times, expected 1"),
        ("cuda.syncthreads()", "two\nlines", "1 times"),
    ],
)
def test_an_edit_that_does_not_fit_the_source_is_refused(right, wrong, said):
    with pytest.raises(Refusal, match=said):
        Edit("playground.kernels.gemm_f16_nt", right, wrong).source()


def test_identical_code_in_blocks_and_interleaved():
    """Noise that drifts: blocks see the drift as a difference, pairs do not; without drift neither sees one."""
    generator = np.random.default_rng(0)
    drift = 1 + 0.1 * np.sin(np.arange(200) / 8)
    first, second = (drift * generator.normal(1, 0.002, 200) for _ in range(2))
    assert no_control.in_blocks(first, second)
    assert not no_control.in_blocks(first / drift, second / drift)
    assert not no_control.with_control(no_control.interleaved(first, second))
    assert no_control.with_control(no_control.interleaved(first, 0.9 * second)), "what does differ is told"


def test_all_of_them_end_in_one_table_and_one_record(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(pitfalls, "NAMES", ("no_control", "warm_cache"))
    assert main(["--on", "emulator", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    rows = [line.split()[:2] for line in said.splitlines()[1:3]]
    assert rows == [["no_control", "statistics"], ["warm_cache", "limits"]]
    (kept,), warnings = record.read(tmp_path / "emulator" / "pitfalls.jsonl")
    assert [found["name"] for found in kept["pitfalls"]] == ["no_control", "warm_cache"] and not warnings
    assert "| warm_cache | limits |" in (tmp_path / "emulator" / "pitfalls.md").read_text()


def test_json_is_the_record_and_nothing_else(tmp_path, capsys):
    assert main(["warm_cache", "--on", "emulator", "--json", "--out", str(tmp_path)]) == 0
    (kept,), _ = record.read(tmp_path / "emulator" / "pitfalls.jsonl")
    assert json.loads(capsys.readouterr().out) == kept


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["warm_cash"], "unknown pitfall 'warm_cash': did you mean warm_cache?"),
        (["warm_cache", "--launch-only"], "--launch-only takes a pitfall that is a kernel"),
        (["--launch-only"], "--launch-only takes a pitfall that is a kernel"),
        (["warm_cache", "--plot-only"], "--plot-only"),
    ],
)
def test_bad_input_is_one_line_and_exit_status_2(typed, said, capsys):
    assert main(typed) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1 and said in captured.err


def test_interrupted_while_its_processes_start_it_says_one_line(tmp_path):
    typed = [sys.executable, "-m", "experiments.pitfalls", "--on", "emulator", "--out", tmp_path]
    run = subprocess.Popen(typed, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while not (tmp_path / "emulator" / "pitfalls.jsonl").exists():  # the first thing that it does
        time.sleep(0.05)
    time.sleep(0.5)
    os.killpg(run.pid, signal.SIGINT)  # as Ctrl-C does: all processes of the terminal
    _, said = run.communicate(timeout=60)
    assert (run.returncode, said) == (130, "pitfalls: interrupted: this run leaves no record\n")


def test_the_table_of_a_gpu_has_its_symptoms(tmp_path):
    launched = {"launches": 100, "wrong": 3, "max_error": 0.5, "not_finite": 7, "fault": None}
    found = pitfalls.examine("warm_cache") | {"gpu": {"says": "3 of 100 launches wrong", "wrong": launched}}
    made = {"gpu": {"name": "NVIDIA H200"}, "commit": "0123456789", "pitfalls": [found]}
    _report.write_markdown(made, tmp_path / "pitfalls.md")
    text = (tmp_path / "pitfalls.md").read_text()
    assert "on the NVIDIA H200" in text and "Commit 01234567." in text and "| 3 of 100 launches wrong |" in text


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["both_row_major", "half_of_k"])
def test_a_mistake_in_the_arithmetic_is_wrong_at_every_launch(name, device):
    found = pitfalls.load(name).on_gpu(name, device)
    assert found["wrong"]["wrong"] == found["wrong"]["launches"] == 100
    assert found["right"]["wrong"] == 0 and found["right"]["launches"] == 100


@pytest.mark.gpu
def test_a_kernel_that_faults_leaves_this_process_its_device(device):
    found = pitfalls.load("forgotten_write_back").on_gpu("forgotten_write_back", device)
    assert found["right"]["wrong"] == 0
    device.synchronize()
