"""Budgets, bounds and their tables, from a made-up record whose every figure is worked out by hand."""

import json

import pytest

from playground.__main__ import main
from playground.errors import Refusal
from playground.report import budget, plots, prefill
from playground.report.narrator import console


def entry(role, kind, flop, bytes, *samples):
    unit = "TFLOP/s" if flop else "GB/s"
    return {"role": role, "kind": kind, "kernel": f"{kind}()", "unit": unit, "launches": 2, "flop": flop,
            "bytes": bytes, "samples_us": list(samples)}  # fmt: skip


@pytest.fixture
def record():
    """A wall of 1000 µs: gate 500, attention 300, convert 180, and gaps of 20."""
    entries = [
        entry("gate", "gemm", 50_000_000_000, 10_000_000, 490, 500, 510),
        entry("attention", "attention", 3_000_000_000, 1_000_000, 300, 300, 300),
        entry("convert", "convert", 0, 360_000_000, 180, 179, 181),
    ]
    samples = {"8p": [2000.0] * 8, "padded": [1000.0, 999.0, 1001.0, 1000.0] * 2}
    return {
        "schema": 1, "time": "2026-11-29T19:00:00+00:00", "probe": "prefill_wall", "commit": "0" * 40, "dirty": False,
        "versions": {}, "gpu": {"name": "NVIDIA H200", "arch": "sm_90", "sms": 132, "cuda_driver": 13000},
        "model": {"layers": 28, "hidden": 3584}, "tokens": 2048, "seed": 1, "source": "The source's figures.",
        "configurations": [{"name": name, "kernels": {}, "source": "1435"} for name in samples],
        "peers": ["torch eager"],
        "budgets": {name: {"whole_us": whole[:3], "passes": entries} for name, whole in samples.items()},
        "limits": {"GB/s": {"rate": 4000.0, "source": "copy"}, "TFLOP/s": {"rate": 800.0, "source": "cuBLAS"}},
        "wall": {"parity": {}, "samples_us": samples | {"A/A": samples["padded"], "torch eager": [500.0] * 8}},
    }  # fmt: skip


def test_passes_and_gaps_add_up_to_the_wall(record):
    rows = budget.rows(record, "padded")
    assert [row.share for row in rows] == [0.5, 0.3, 0.18]
    assert budget.gap(record, "padded") == pytest.approx(20)
    assert budget.closes(record, "padded")
    assert not budget.closes(record, "8p")  # 980 µs of 2000
    assert budget.tokens_per_second(record, "padded") == pytest.approx(2_048_000)


def test_a_pass_is_told_against_its_own_limit(record):
    gate, _, convert = budget.rows(record, "padded")
    assert (gate.rate, gate.unit) == (pytest.approx(100), "TFLOP/s")
    assert gate.of_limit == pytest.approx(50e9 / 800e12 / 500e-6)
    assert (convert.rate, convert.unit) == (pytest.approx(2000), "GB/s")
    assert convert.of_limit == pytest.approx(0.5)
    del record["limits"]["TFLOP/s"]
    assert [row.of_limit for row in budget.rows(record, "padded")] == [None, None, pytest.approx(0.5)]


def test_amdahl():
    assert budget.gain(0.5, 2) == pytest.approx(1 / 0.75 - 1)
    assert budget.gain(0.18, float("inf")) == pytest.approx(1 / 0.82 - 1)
    assert budget.gain(0.3, 1) == 0


def write(folder, *records):
    path = folder / "nvidia-h200" / "prefill_wall.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_bound_answers_from_the_latest_budget(record, tmp_path, capsys):
    path = write(tmp_path, record | {"tokens": 1}, record, record | {"wall": None})
    path.write_text(path.read_text() + '{"schema": 1, "wall"')
    assert main(["bound", "convert", "--speedup", "2", "--out", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    first, twice, nothing = captured.out.splitlines()
    assert captured.err == f"{path}:4: not a record (20 bytes, cut short?), skipped\n"
    assert first == "convert on NVIDIA H200: 0.18 ms of 1.0 ms, 18.0% of the wall of padded (2026-11-29)"
    assert twice == "  2 times as fast: wall +9.89%, above the bar of 1.5%"
    assert nothing == "  for nothing: wall +21.95%, above the bar of 1.5%"
    assert main(["bound", "convert", "--speedup", "1.05", "--configuration", "8p", "--out", str(tmp_path)]) == 0
    assert "1.05 times as fast: wall +0.43%, below the bar" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["conv", "--speedup", "2"], "no pass 'conv': there are gate, attention, convert, gemm"),
        (["convert", "--speedup", "0"], "--speedup 0"),
        (["convert", "--speedup", "2", "--configuration", "9p"], "no configuration '9p': there are 8p, padded"),
    ],
)
def test_bounds_that_cannot_be_told_are_refused(record, tmp_path, capsys, arguments, message):
    write(tmp_path, record)
    assert main(["bound", *arguments, "--out", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err


def test_without_a_budget_bound_says_what_makes_one(tmp_path):
    with pytest.raises(
        Refusal, match=r"no measured budget in .*: python -m experiments.prefill_wall on a GPU makes one"
    ):
        budget.latest(tmp_path)


def test_tables_and_picture_are_told_from_the_record(record, tmp_path, capsys):
    out = console()
    out.print(prefill.summary(record))
    out.print(prefill.budget_table(record, "padded"))
    printed = capsys.readouterr().out
    assert "padded" in printed and "2,048,000" in printed and "2.0000 [" in printed
    assert [line.split()[:2] for line in printed.splitlines() if line.startswith("gaps")] == [["gaps", "0.020"]]
    path = write(tmp_path, record)
    assert plots.redraw(tmp_path, "prefill_wall") == [path.with_suffix(".png")]
    first = path.with_suffix(".png").read_bytes()
    plots.redraw(tmp_path)
    assert path.with_suffix(".png").read_bytes() == first
