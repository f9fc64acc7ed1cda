"""Predictions scored: what the floors foretold of every candidate, and what was measured, from the records alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np

from playground.floors.predict import FASTER, NO_DIFFERENCE, SLOWER, layer_floor
from playground.measure import verdict
from playground.measure.layer_verdict import predictions_of
from playground.report import record
from playground.report.floors import gpu_with_floors
from playground.report.tables import markdown
from playground.report.variants import short_names

DIRECTIONS = {verdict.LANDED: FASTER, verdict.REVERTED: SLOWER, verdict.NO_DIFFERENCE: NO_DIFFERENCE}
COLUMNS = ("probe", "candidate", "GPU", "by the floors", "by the author", "measured", "direction", "floor of the time")


@dataclass(frozen=True)
class Row:
    """One candidate of one probe on one GPU, as text. right: whether the floors' direction is the measured one."""

    probe: str
    candidate: str
    gpu: str
    floors: str
    author: str
    measured: str
    right: str
    reached: str


def rows(results: Path, probes: Iterable[str]) -> list[Row]:
    """Every candidate that was timed on a GPU for which the latest record of its probe holds floors."""
    paths = (path for name in probes for path in sorted(results.glob(f"*/{name}.jsonl")))
    return [row for path in paths if (latest := record.latest(path)) for row in _scored(latest)]


def as_markdown(found: Sequence[Row]) -> str:
    """For the README: the table, and how many directions are right."""
    scored = [row.right for row in found if row.right]
    right = scored.count("right")
    share = f" ({right / len(scored):.0%})" if scored else ""
    return f"{markdown(COLUMNS, map(astuple, found))}\n\nDirections right: {right} of {len(scored)}{share}."


def _scored(latest: Mapping) -> list[Row]:
    gpu = gpu_with_floors(latest)
    if gpu is None:
        return []
    names = short_names(latest["variants"])
    return [
        _row(latest, gpu, label, names[label])
        for label in latest["verdicts"]
        if gpu in latest["predicted"].get(label, {})
    ]


def _row(latest: Mapping, gpu: str, label: str, name: str) -> Row:
    foretold, judged = latest["predicted"][label][gpu], latest["verdicts"][label]
    measured = DIRECTIONS.get(judged["verdict"])
    baseline = latest["variants"][0]["label"]
    return Row(
        probe=latest["probe"],
        candidate=name,
        gpu=latest["gpu"]["name"],
        floors=f"{foretold['ratio']:.2f}, {foretold['verdict']}",
        author=_by_the_author(latest, label),
        measured=f"{judged['ratio']['median']:.2f}, {measured or judged['verdict']}",
        right=("right" if foretold["verdict"] == measured else "wrong") if measured else "",
        reached=f"{_reached(latest, gpu, baseline):.0%} → {_reached(latest, gpu, label):.0%}",
    )


def _by_the_author(latest: Mapping, label: str) -> str:
    """The stated interval, which is of the first candidate only, and whether the measured ratio lies in it."""
    stated = next(iter(predictions_of(latest)), None)
    outcome = latest["verdicts"][label]["prediction"]
    return f"{stated['low']:g} to {stated['high']:g}, {outcome}" if stated and outcome else ""


def _reached(latest: Mapping, gpu: str, label: str) -> float:
    """The floor of the layer as a part of its time, the sum of the shapes' medians."""
    time = sum(len(shape["roles"]) * np.median(shape["samples_us"][label]) for shape in latest["shapes"])
    return layer_floor(latest["floors"], gpu, label) / time
