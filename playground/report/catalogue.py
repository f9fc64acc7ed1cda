"""The list of probes: what the source claims, and the latest verdict on each GPU, as a table or as Markdown."""

import sys
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
from rich.table import Table

import experiments
from playground.report import record
from playground.report.narrator import interval, table

COLUMNS = ("probe", "source", "GPU", "candidate", "ratio", "verdict", "prediction", "TFLOP/s", "of cuBLAS")
CUBLAS = "cuBLAS, f16 out"


@dataclass(frozen=True)
class Row:
    """One candidate of one probe on one GPU, as text. Rates are over all shapes, each as often as the layer has it."""

    probe: str
    source: str
    gpu: str = "not run yet"
    candidate: str = ""
    ratio: str = ""
    verdict: str = ""
    prediction: str = ""
    tflops: str = ""
    of_cublas: str = ""


def rows(results: Path) -> list[Row]:
    """Every probe with the verdicts of its latest record on each GPU in `results`."""
    found = []
    for name in experiments.names():
        claim = experiments.load(name).claim
        source = f"{claim.effect:+.0%} {claim.level}, {claim.gpu}, {claim.verdict}" if claim else ""
        measured = [row for path in sorted(results.glob(f"*/{name}.jsonl")) for row in _measured(path, name, source)]
        found += measured or [Row(name, source)]
    return found


def as_table(found: Sequence[Row]) -> Table:
    """For the terminal; a probe's name and claim stand in its first row only."""
    drawn, previous = table(*COLUMNS), None
    for column in drawn.columns:
        column.justify = "left"
    for row in found:
        cells = astuple(row)
        drawn.add_row(*(("", "", *cells[2:]) if row.probe == previous else cells))
        previous = row.probe
    return drawn


def as_markdown(found: Sequence[Row]) -> str:
    """For the README."""
    lines = [COLUMNS, ("---",) * len(COLUMNS), *(astuple(row) for row in found)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _measured(path: Path, name: str, source: str) -> list[Row]:
    records, warnings = record.read(path)
    for warning in warnings:
        print(warning, file=sys.stderr)
    latest = records[-1] if records else {"verdicts": {}}
    return [
        Row(
            probe=name,
            source=source,
            gpu=latest["gpu"]["name"],
            candidate=_differing(label, latest["variants"]),
            ratio=interval(judged["ratio"]),
            verdict=judged["verdict"],
            prediction=judged["prediction"] or "",
            tflops=f"{_rate(latest, latest['variants'][0]['label']):.1f} → {_rate(latest, label):.1f}",
            of_cublas=f"{_rate(latest, label) / _rate(latest, CUBLAS):.1%}" if _has(latest, CUBLAS) else "",
        )
        for label, judged in latest["verdicts"].items()
    ]


def _differing(label: str, variants: list[dict]) -> str:
    """The parameters in which a variant is not the baseline."""
    baseline = variants[0]["parameters"]
    parameters = next(variant["parameters"] for variant in variants if variant["label"] == label)
    return ", ".join(f"{name}={value}" for name, value in parameters.items() if value != baseline[name])


def _has(latest: dict, side: str) -> bool:
    return all(side in shape["samples_us"] for shape in latest["shapes"])


def _rate(latest: dict, side: str) -> float:
    """TFLOP/s of a side over one layer, from the median of each shape."""
    shapes = latest["shapes"]
    flop = sum(len(shape["roles"]) * shape["flop"] for shape in shapes)
    time = sum(len(shape["roles"]) * np.median(shape["samples_us"][side]) for shape in shapes)
    return flop / time / 1e6
