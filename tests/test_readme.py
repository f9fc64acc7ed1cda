"""The README says what the project does: its table is the records', its examples run, its commands are CI's."""

import re
from pathlib import Path

import numpy as np

import experiments
from experiments import pitfalls
from playground import Probe
from playground.emulator.hazards import READ_AFTER_WRITE
from playground.report import catalogue, marks, predictions

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def code_block(first_words: str) -> str:
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    return next(block for block in blocks if first_words in block)


def test_the_results_are_those_of_the_records():
    table = re.search(r"<!-- results -->\n(.*?)\n?<!-- /results -->", README, re.DOTALL).group(1)
    assert table == catalogue.as_markdown(catalogue.rows(ROOT / "results", experiments.claims()))


def test_the_predictions_are_those_of_the_records():
    table = re.search(r"<!-- predictions -->\n(.*?)\n?<!-- /predictions -->", README, re.DOTALL).group(1)
    assert table == predictions.as_markdown(predictions.rows(ROOT / "results", experiments.names()))


def test_the_marks_of_all_mechanisms_are_those_of_the_records():
    table = (ROOT / "results" / "mechanisms.md").read_text()
    assert table == marks.as_markdown(marks.rows(ROOT / "results", experiments.statements())) + "\n"


def test_ci_runs_the_test_command():
    command = "python3 -m venv .venv && .venv/bin/pip install -q -e '.[cu13,dev]' && .venv/bin/python -m pytest"
    assert f"    {command}\n" in README
    assert f"\n{command}\n" in (ROOT / ".ci" / "run").read_text()


def test_the_example_probe_is_one():
    scope = {"__name__": "example"}
    exec(code_block("Prediction, Probe"), scope)
    assert isinstance(scope["probe"], Probe)


def test_the_example_kernel_has_the_race_that_the_readme_shows(tmp_path, capsys, monkeypatch):
    module = tmp_path / "reverse.py"
    module.write_text(code_block("def reverse"))
    monkeypatch.syspath_prepend(tmp_path)
    import reverse

    assert np.array_equal(reverse.out, np.arange(255, -1, -1, dtype=np.float32))
    assert [(hazard.kind, hazard.line) for hazard in reverse.report.hazards] == [(READ_AFTER_WRITE, 10)]
    printed = " ".join(capsys.readouterr().out.replace(f"{tmp_path}/", "").split())
    assert printed in " ".join(README.split())


def test_every_path_that_it_names_is_there():
    named = re.findall(r"`((?:playground|experiments|results)/[\w./-]*)`", README) + re.findall(
        r"\]\(([\w./-]+)\)", README
    )
    assert len(named) > 8
    for path in named:
        assert (ROOT / path).exists() or path == "experiments/mine.py", path


def test_it_names_every_pitfall_with_its_gate():
    section = " ".join(README.split("## See a mistake caught")[1].split("\n## ")[0].split())
    gates = dict(re.findall(r"\*(\w+)\*(.*?)(?:;|\.$)", section[section.index("*parity*") :]))
    named = {gate.rstrip("s"): set(re.findall(r"`(\w+)`", names)) for gate, names in gates.items()}
    wanted = {}
    for name in pitfalls.NAMES:
        wanted.setdefault(pitfalls.load(name).gate.rstrip("s"), set()).add(name)
    assert named == wanted
