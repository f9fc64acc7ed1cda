"""Where the time of a whole prefill goes, from a record of prefill_wall: passes, gaps, limits, bounds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from playground.errors import Refusal
from playground.measure.verdict import amdahl
from playground.report import record as records
from playground.report.rates import COUNTED, rates

NAME = "prefill_wall"
CLOSES = 0.03
"""How far the passes' sum may be from the whole, as a part of it."""


@dataclass(frozen=True)
class Row:
    """All launches of one role. rate: in `unit`. of_limit: the least time for its work over its time, if known."""

    role: str
    kind: str
    launches: int
    microseconds: float
    share: float
    rate: float
    unit: str
    of_limit: float | None


def measured(record: Mapping) -> list[str]:
    """The configurations whose wall and budget were measured."""
    return [name for name in record["budgets"] if record["wall"] and name in record["wall"]["samples_us"]]


def wall(record: Mapping, side: str) -> float:
    """Median of a side's whole prefills [µs]."""
    return float(np.median(record["wall"]["samples_us"][side]))


def tokens_per_second(record: Mapping, side: str) -> float:
    """The prompt's tokens over the median of a side's whole prefills."""
    return record["tokens"] / wall(record, side) * 1e6


def whole(record: Mapping, name: str) -> float:
    """Median of the whole prefills right before those that were timed pass by pass [µs]."""
    return float(np.median(record["budgets"][name]["whole_us"]))


def rows(record: Mapping, name: str) -> list[Row]:
    """A configuration's passes by role, in the order of the layer."""
    return [_row(entry, whole(record, name), record["limits"]) for entry in record["budgets"][name]["passes"]]


def gap(record: Mapping, name: str) -> float:
    """What of the whole is in no pass [µs]; below 0 if the passes took longer one by one than in the graph."""
    return whole(record, name) - sum(row.microseconds for row in rows(record, name))


def closes(record: Mapping, name: str) -> bool:
    """Whether the passes add up to the whole."""
    return abs(gap(record, name)) <= CLOSES * whole(record, name)


def gain(share: float, speedup: float) -> float:
    """Of the wall, by Amdahl, if a pass with that share of it is `speedup` times as fast: 0.05 is 5 % more tokens/s."""
    return amdahl(share, 1 / speedup) - 1


def share_of(record: Mapping, name: str, passes: str) -> float:
    """The share of the wall of one role, or of all of one kind."""
    found = rows(record, name)
    chosen = [row for row in found if passes in (row.role, row.kind)]
    if not chosen:
        known = dict.fromkeys([row.role for row in found] + [row.kind for row in found])
        raise Refusal(f"no pass {passes!r}: there are {', '.join(known)}")
    return sum(row.share for row in chosen)


def latest(results: Path) -> Sequence[Mapping]:
    """The newest record with a measured budget of every GPU in `results`."""
    paths = sorted(results.glob(f"*/{NAME}.jsonl"))
    found = [timed for path in paths if (timed := records.latest(path, lambda one: "budgets" in one and measured(one)))]
    if not found:
        raise Refusal(f"no measured budget in {results}: python -m experiments.{NAME} on a GPU makes one")
    return found


def _row(entry: Mapping, all_passes: float, limits: Mapping) -> Row:
    time = float(np.median(entry["samples_us"]))
    at_rate_1 = {unit: entry[counted] / per_unit for unit, (counted, per_unit) in COUNTED.items()}  # microseconds
    needed = {unit: at_rate_1[unit] / limits[unit]["rate"] for unit in limits if at_rate_1[unit]}
    known = "TFLOP/s" in needed or not entry["flop"]
    return Row(
        entry["role"],
        entry["kind"],
        entry["launches"],
        time,
        time / all_passes,
        float(rates(entry, time)),
        entry["unit"],
        max(needed.values()) / time if known and needed else None,
    )
