"""What is told of the whole prefill: its configurations side by side, a budget pass by pass, a bound."""

from collections.abc import Mapping
from dataclasses import asdict

from rich.table import Table

from playground.measure.verdict import CONTROL, paired_ratio
from playground.report import budget
from playground.report.tables import interval, table


def summary(record: Mapping) -> Table:
    """A row per configuration and peer: the wall, tokens per second, the ratio to the row before, shares, gaps."""
    model = record["model"]
    title = f"whole prefill, {record['tokens']:,} tokens, {model['layers']} layers of {model['hidden']}"
    speeds, shares = ("wall ms", "tokens/s", "to the one before"), ("GEMM", "attention", "rest", "gaps")
    made, before = table("configuration", *speeds, *shares, "source", title=title), None
    for configuration in record["configurations"]:
        name = configuration["name"]
        if name not in record["wall"]["samples_us"]:
            made.add_row(name, "not timed: its logits disagree")
            continue
        made.add_row(name, *_speed(record, name, before), *_shares(record, name), configuration["source"] or "")
        before = name
    control = record["configurations"][-1]["name"]
    for name in record["wall"]["samples_us"]:
        if name not in record["budgets"]:
            made.add_row(name, *_speed(record, name, control if name == CONTROL else None))
    return made


def _speed(record: Mapping, name: str, before: str | None) -> tuple[str, ...]:
    samples, ratio = record["wall"]["samples_us"], ""
    if before:
        ratio = interval(asdict(paired_ratio(samples[before], samples[name])))
    return f"{budget.wall(record, name) / 1000:.1f}", f"{budget.tokens_per_second(record, name):,.0f}", ratio


def _shares(record: Mapping, name: str) -> tuple[str, ...]:
    gemm, attention = (budget.share_of(record, name, kind) for kind in ("gemm", "attention"))
    gaps = budget.gap(record, name) / budget.whole(record, name)
    return tuple(f"{share:.1%}" for share in (gemm, attention, 1 - gemm - attention - gaps, gaps))


def budget_table(record: Mapping, name: str) -> Table:
    """A row per role of a pass."""
    made = table(
        "pass", "launches", "ms", "share", "rate", "of its limit", title=f"budget of {name}: medians between events"
    )
    for row in budget.rows(record, name):
        limit = "" if row.of_limit is None else f"{row.of_limit:.0%}"
        rate = f"{row.rate:,.1f} {row.unit}"
        made.add_row(row.role, str(row.launches), f"{row.microseconds / 1000:.3f}", f"{row.share:.1%}", rate, limit)
    gap = budget.gap(record, name)
    made.add_row("gaps", "", f"{gap / 1000:.3f}", f"{gap / budget.whole(record, name):.1%}")
    return made


def work_table(record: Mapping, name: str) -> Table:
    """The same where nothing was timed: the work of each pass."""
    made = table("pass", "launches", "GFLOP", "GB", title=f"passes of {name}")
    for entry in record["budgets"][name]["passes"]:
        flop = f"{entry['flop'] / 1e9:,.1f}" if entry["flop"] else ""
        made.add_row(entry["role"], str(entry["launches"]), flop, f"{entry['bytes'] / 1e9:,.3f}")
    return made


def bound(record: Mapping, name: str, passes: str, speedup: float, bar: float) -> list[str]:
    """What a faster pass would gain, as lines."""
    share = budget.share_of(record, name, passes)
    whole = budget.whole(record, name)

    def told(gain: float) -> str:
        return f"wall {gain:+.2%}, {'above' if gain > bar else 'below'} the bar of {bar:.1%}"

    return [
        f"{passes} on {record['gpu']['name']}: {share * whole / 1000:.2f} ms of {whole / 1000:.1f} ms, {share:.1%} of"
        f" the wall of {name} ({record['time'][:10]})",
        f"  {speedup:g} times as fast: {told(budget.gain(share, speedup))}",
        f"  for nothing: {told(budget.gain(share, float('inf')))}",
    ]
