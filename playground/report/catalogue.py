"""The list of probes: what the source claims, and the latest verdict on each GPU, as a table or as Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
from rich.table import Table

from playground.report import record
from playground.report.rates import rates
from playground.report.tables import interval, markdown, table
from playground.report.variants import short_names

COLUMNS = ("probe", "source", "GPU", "candidate", "ratio", "verdict", "wall", "prediction", "rate", "of peers")


@dataclass(frozen=True)
class Row:
    """One candidate of one probe on one GPU, as text. Rates are over all shapes, each as often as the layer has it."""

    probe: str
    source: str
    gpu: str = "not run yet"
    candidate: str = ""
    ratio: str = ""
    verdict: str = ""
    wall: str = ""
    prediction: str = ""
    rate: str = ""
    of_peers: str = ""


def rows(results: Path, claims: Mapping[str, Mapping | None]) -> list[Row]:
    """Every probe with the verdicts of its latest record on each GPU in `results`; claims: by probe, as in a record."""
    found = []
    for name, claim in claims.items():
        source = "{effect:+.0%} {level}, {gpu}, {verdict}".format(**claim) if claim else ""
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
    return markdown(COLUMNS, map(astuple, found))


def _measured(path: Path, name: str, source: str) -> list[Row]:
    latest = record.latest(path)
    if not latest:
        return []
    names, baseline = short_names(latest["variants"]), latest["variants"][0]["label"]
    return [
        Row(
            probe=name,
            source=source,
            gpu=latest["gpu"]["name"],
            candidate=names[label],
            ratio=interval(judged["ratio"]),
            verdict=judged["verdict"],
            wall=_wall(judged),
            prediction=judged["prediction"] or "",
            rate=f"{_rate(latest, baseline):.1f} → {_rate(latest, label):.1f} {latest['shapes'][0]['unit']}",
            of_peers=_of_peers(latest, label),
        )
        for label, judged in latest["verdicts"].items()
    ]


def _wall(judged: dict) -> str:
    """As measured on whole prefills, or by the stated share."""
    wall, how = (judged["wall_measured"], " (measured)") if "wall_measured" in judged else (judged["wall"], "")
    return f"{wall['ratio']['median']:.3f}, {wall['verdict']}{how}" if wall else ""


def _rate(latest: dict, side: str) -> float:
    """Of a side over one layer, from the median of each shape: their rates, each for as long as it took."""
    medians = [np.median(shape["samples_us"][side]) for shape in latest["shapes"]]
    times = [len(shape["roles"]) * median for shape, median in zip(latest["shapes"], medians)]
    return np.average([rates(shape, median) for shape, median in zip(latest["shapes"], medians)], weights=times)


def _of_peers(latest: dict, label: str) -> str:
    """The candidate's speed as a part of every peer's that was timed on each shape."""
    peers = dict.fromkeys(peer for shape in latest["shapes"] for peer in shape["peer_parity"])
    timed = [peer for peer in peers if all(peer in shape["samples_us"] for shape in latest["shapes"])]
    return "; ".join(f"{_rate(latest, label) / _rate(latest, peer):.1%} of {peer}" for peer in timed)
