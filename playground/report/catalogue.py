"""The list of probes: what the source claims, and the latest verdict on each GPU."""

import sys
from pathlib import Path

from rich.table import Table

import experiments
from playground.report import record
from playground.report.narrator import interval, table


def catalogue(results: Path) -> Table:
    """Every probe with its claim; a line per GPU and candidate with the latest verdict in `results`."""
    rows = table("probe", "source", "GPU", "candidate", "ratio", "verdict")
    for column in rows.columns:
        column.justify = "left"
    for name in experiments.names():
        claim = experiments.load(name).claim
        first = (name, f"{claim.effect:+.0%} {claim.level}, {claim.gpu}, {claim.verdict}")
        for verdict in _latest_verdicts(results, name) or [("not run yet",)]:
            rows.add_row(*first, *verdict)
            first = ("", "")
    return rows


def _latest_verdicts(results: Path, name: str) -> list[tuple[str, str, str, str]]:
    found = []
    for path in sorted(results.glob(f"*/{name}.jsonl")):
        records, warnings = record.read(path)
        for warning in warnings:
            print(warning, file=sys.stderr)
        for label, judged in (records[-1]["verdicts"] if records else {}).items():
            found.append((records[-1]["gpu"]["name"], label, interval(judged["ratio"]), judged["verdict"]))
    return found
