"""The page of the prefill's wall: a stacked bar per configuration, and the source's figures beside."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from playground.report import budget
from playground.report.picture.header import circumstances
from playground.report.picture.page import (
    HEADING,
    INK,
    LEFT,
    MUTED,
    NORMAL,
    PLAIN,
    RIGHT,
    SMALL,
    TITLE,
    Page,
    line_height,
    panel_title,
)
from playground.report.picture.sides import PEER_COLOUR

GROUPS = {
    "gate, up, down": ({"gate", "up", "down"}, "#0072b2"),
    "q, k, v, o": ({"q", "k", "v", "o"}, "#56b4e9"),
    "attention": ({"attention"}, "#d55e00"),
    "convert": ({"convert"}, "#009e73"),
    "swiglu": ({"swiglu"}, "#cc79a7"),
    "norm, rope, bias, store, residual": ({"norm", "rope", "bias", "store", "residual"}, "#e69f00"),
    "embedding, head": ({"embedding", "head"}, "#7a7a7a"),
}
"""Name -> the roles together in one segment, and its colour: Okabe and Ito's."""
GAPS = "gaps", "#dcdcdc"
NAMES, SPEEDS, SOURCE = 1.35, 7.0, 7.95
PITCH, TALL = 0.32, 0.7
FEWEST_TO_TELL = 0.06
"""The part of the longest bar that a segment must have for its share to fit in."""


def figure(record: Mapping) -> Figure:
    """The picture before it is a file."""
    page = Page()
    model = record["model"]
    headline = f"The whole prefill: {record['tokens']:,} tokens through {model['layers']} layers of {model['hidden']}"
    y = page.lines(LEFT, 0.38, [headline], TITLE, weight="bold")
    y = page.lines(LEFT, y, page.wrap(" · ".join(circumstances(record)), RIGHT - LEFT), color=MUTED)
    page.cut(_bars(page, record, y + 0.3) + 0.1)
    return page.figure


def _bars(page: Page, record: Mapping, top: float) -> float:
    names = budget.measured(record)
    if not names:
        page.text(NAMES, top, "not timed: no GPU", HEADING, weight="bold")
        return panel_title(page, top, "Wall", "")
    y = panel_title(page, top, "Wall", "ms, median of whole prefills; segments: medians between events", body=NAMES)
    y = _legend(page, y + 0.05)
    page.text(SPEEDS + 0.75, y, "tokens/s", SMALL, MUTED, ha="right")
    page.text(SOURCE, y, "source, GB10: tokens/s", SMALL, MUTED)
    y += 0.08
    peers = [side for side in record["wall"]["samples_us"] if side in record.get("peers", ())]
    longest = max(budget.wall(record, side) for side in (*names, *peers))
    axes = page.frame(NAMES, y, SPEEDS - NAMES - 0.1, (len(names) + len(peers)) * PITCH)
    axes.set(xlim=(0, longest / 1000), ylim=(len(names) + len(peers), 0))
    axes.xaxis.set_major_formatter(PLAIN)
    sources = {one["name"]: one["source"] for one in record["configurations"]}
    for row, side in enumerate((*names, *peers)):
        ours = side in names
        _bar(axes, row, _segments(record, side) if ours else {side: (budget.wall(record, side), PEER_COLOUR)}, longest)
        middle = y + (row + 0.5) * PITCH + 0.04
        page.text(LEFT, middle, side, color=INK if ours else PEER_COLOUR, weight="bold")
        speed = budget.tokens_per_second(record, side)
        page.text(SPEEDS + 0.75, middle, f"{speed:,.0f}", NORMAL, INK, weight="bold", ha="right")
        page.text(SOURCE, middle, sources.get(side) or "", SMALL, MUTED)
    y += (len(names) + len(peers)) * PITCH + 0.35
    return page.lines(LEFT, y, page.wrap(record["source"], RIGHT - LEFT, SMALL), SMALL, color=MUTED)


def _legend(page: Page, y: float) -> float:
    x = NAMES
    for name, colour in [*((name, colour) for name, (_, colour) in GROUPS.items()), GAPS]:
        page.text(x, y, "■", color=colour)
        page.text(x + 0.13, y, name, SMALL, MUTED)
        x += 0.3 + 0.055 * len(name)
    return y + 1.6 * line_height(NORMAL)


def _segments(record: Mapping, name: str) -> dict[str, tuple[float, str]]:
    """Group -> (µs, colour), gaps last."""
    rows = budget.rows(record, name)
    found = {
        group: (sum(row.microseconds for row in rows if row.role in roles), colour)
        for group, (roles, colour) in GROUPS.items()
    }
    return found | {GAPS[0]: (max(0.0, budget.gap(record, name)), GAPS[1])}


def _bar(axes, row: int, segments: Mapping[str, tuple[float, str]], longest: float) -> None:
    left, whole = 0.0, sum(time for time, _ in segments.values())
    for time, colour in segments.values():
        axes.barh(row + 0.5, time / 1000, TALL, left / 1000, color=colour, linewidth=0)
        if time > FEWEST_TO_TELL * longest and len(segments) > 1:
            middle = (left + time / 2) / 1000
            axes.text(middle, row + 0.5, f"{time / whole:.0%}", size=SMALL, color="white", ha="center", va="center")
        left += time
