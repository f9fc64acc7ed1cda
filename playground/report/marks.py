"""Marks of mechanisms as text: a line of a run, the numbers behind a mark, the table of all claims."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from playground.measure import mechanisms
from playground.measure.mechanisms import UNTESTED
from playground.report import record
from playground.report.tables import interval, markdown

COLUMNS = ("probe", "claim", "source", "GPU", "mark", "numbers")
NOT_RUN = {"gpu": None, "mark": UNTESTED, "why": "not run yet"}


@dataclass(frozen=True)
class Row:
    """One mark of one claim, as text."""

    probe: str
    claim: str
    source: str
    gpu: str
    mark: str
    numbers: str


def mark_line(mechanism: Mapping, mark: Mapping) -> str:
    """A mark of a mechanism with the claim, its source, and the numbers."""
    where = f" on {mark['gpu']}" if mark["gpu"] else ""
    return f"{mark['mark'].upper()}{where}: {mechanism['says']} ({mechanism['source']}): {numbers(mechanism, mark)}"


def numbers(mechanism: Mapping, mark: Mapping) -> str:
    """What a mark rests on, beside what was claimed; of an untested one why, and what there is."""
    test = mechanism["test"]
    found = []
    if "values" in mark:
        found.append(_figure(test, mark["values"]))
    if "ratio" in mark:
        found.append(f"ratio {interval(mark['ratio'])}, claimed {test['low']:g} to {test['high']:g}")
    if "effect" in mark:
        found.append(
            f"the change gains {interval(mark['effect'])} with the cause, {interval(mark['effect_without'])} without;"
            f" interaction {interval(mark['interaction'])}"
        )
    return "; ".join([*([mark["why"]] if mark["mark"] == UNTESTED else []), *found])


def _figure(test: Mapping, values: Sequence[float]) -> str:
    low, high, shown = test["low"], test["high"], " → ".join(map(_short, values))
    claimed = _short(low) if low == high else f"{_short(low)} to {_short(high)}"
    if len(values) == 1:
        return f"{test['figure']} {shown}, claimed {claimed}"
    factor = f", a factor of {values[1] / values[0]:.3g}" if values[0] else ""
    return f"{test['figure']} {shown}{factor}, claimed {claimed}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def rows(results: Path, statements: Mapping[str, Sequence[Mapping]]) -> list[Row]:
    """Every claim, judged by its probe's latest record on each GPU in `results`; without a GPU if on none.

    statements: by probe.
    """
    found = []
    for probe, claims in statements.items():
        latest = [one for path in sorted(results.glob(f"*/{probe}.jsonl")) if (one := record.latest(path))]
        judged = [mechanisms.judge(one, claims) for one in [one for one in latest if one["gpu"]] or latest]
        marks = [(claim, mark) for run in judged for claim in run for mark in claim["marks"]]
        found += [_row(probe, claim, mark) for claim, mark in marks]
        found += [] if judged else [_row(probe, claim, NOT_RUN) for claim in claims]
    return list(dict.fromkeys(found))  # what needs no GPU is the same on every one


def as_markdown(found: Sequence[Row]) -> str:
    """For results/mechanisms.md."""
    return markdown(COLUMNS, map(astuple, found))


def _row(probe: str, claim: Mapping, mark: Mapping) -> Row:
    return Row(probe, claim["says"], claim["source"], mark["gpu"] or "any", mark["mark"], numbers(claim, mark))
