"""The list of probes and what the environment of a run is recorded as."""

import subprocess
from importlib import metadata
from pathlib import Path

import experiments
from playground.report import environment
from playground.report.narrator import console
from playground.report.tables import ledger_table, table


def test_versions_are_those_of_the_installed_packages():
    versions = environment.versions()
    for package in ("numba", "numba-cuda", "numpy"):
        assert versions[package] == metadata.version(package)


def test_the_commit_is_the_checkouts():
    root = Path(experiments.__file__).parents[1]
    head = subprocess.run(["git", "-C", root, "rev-parse", "HEAD"], capture_output=True, text=True)
    recorded = environment.commit()
    if head.returncode:
        assert recorded["dirty"] is None
    else:
        assert recorded["commit"] == head.stdout.strip()
        assert recorded["dirty"] in (True, False)


def text_of(rows, capsys):
    console().print(rows)
    return capsys.readouterr().out


def test_a_table_that_is_piped_is_plain_text_in_one_line_per_row(capsys):
    rows = table("variant", "time")
    rows.add_row("x" * 60, "1.5")
    printed = text_of(rows, capsys)
    assert "\x1b" not in printed
    assert printed.splitlines()[1].split() == ["x" * 60, "1.5"]


def test_a_ledger_that_was_refused_is_shown_with_its_reason(capsys):
    fits = {
        "arch": "sm_121", "threads": 256, "registers": 76, "spill_stores": 4, "spill_loads": 8, "static_shared": 1000,
        "dynamic_shared": 32_768, "blocks_per_sm": 3, "limiter": "shared memory",
    }  # fmt: skip
    ledgers = {"first": {"GB10": fits}, "second": {"GB10": {"refused": "needs 106,496 bytes"}}}
    printed = text_of(ledger_table(ledgers), capsys)
    first, second = printed.splitlines()[1:]
    assert first.split()[:4] == ["first", "GB10", "sm_121", "76"]
    assert "12 B" in first
    assert "33,768 B" in first
    assert "needs 106,496 bytes" in second
