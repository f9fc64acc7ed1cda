"""Times: a panel per shape, an arrow per rung from the time of the rung before to its own."""

from collections.abc import Sequence

import numpy as np

from playground.report.ladder import Ladder
from playground.report.picture.ladder.rows import (
    BODY,
    OURS,
    PITCH,
    RIGHT,
    SLOWER,
    arrow,
    log_axes,
    middle_of,
    name_rungs,
)
from playground.report.picture.page import HEADING, INK, LEFT, MUTED, NORMAL, SMALL, Page, line_height, panel_title
from playground.report.picture.samples import four_digits
from playground.report.picture.sides import PEER_COLOUR

TITLE = "Time per layer"
EXPLANATION = "median time in µs (log scale); an arrow comes from the rung that it was measured against, in one run"
GAP = 0.3
MEDIANS, STEPS = 0.6, 1.3
"""Where a panel's two columns of numbers end, from the end of its axis."""


def times(page: Page, ladder: Ladder, top: float) -> float:
    shapes = ladder.shapes()
    if not shapes:
        page.text(BODY, top, "not timed: no GPU", HEADING, weight="bold")
        return panel_title(page, top, TITLE, "", body=BODY) - 0.1
    y = panel_title(page, top, TITLE, EXPLANATION, body=BODY) + 0.1
    pitch = (RIGHT + GAP - BODY) / len(shapes)
    peers = list(dict.fromkeys(peer for dims in shapes for peer in ladder.peers(dims)))
    for column, dims in enumerate(shapes):
        _panel(page, ladder, dims, peers, BODY + column * pitch, y, pitch - GAP)
    y += 2 * line_height(NORMAL)
    name_rungs(page, ladder, y)
    for row, peer in enumerate(peers, len(ladder.rungs)):
        page.text(LEFT, y + row * PITCH + 0.2, peer, color=PEER_COLOUR, weight="bold")
        page.text(LEFT, y + row * PITCH + 0.33, "torch, in the same run", SMALL, MUTED)
    return y + (len(ladder.rungs) + len(peers)) * PITCH + 0.25


def _panel(page: Page, ladder: Ladder, dims: dict, peers: Sequence[str], x: float, y: float, width: float) -> None:
    end = x + width - STEPS
    page.text(x, y, f"nt = {dims['nt']:,}", weight="bold")
    page.text(x + 0.75, y, ", ".join(f"{name} {dims[name]}" for name in ("nh", "nk", "kv")), SMALL, MUTED)
    page.text(end + MEDIANS, y, "µs", SMALL, MUTED, ha="right")
    page.text(end + STEPS, y, "step", SMALL, MUTED, ha="right")
    y += 2 * line_height(NORMAL)
    medians = [ladder.medians(rung.name, dims) for rung in ladder.rungs]
    medians += [ladder.peers(dims).get(peer, []) for peer in peers]
    axes = log_axes(page, [time for found in medians for time in found], x, y, width - STEPS, len(medians))
    for row, found in enumerate(medians):
        text, style = (_microseconds(found), {}) if found else ("not timed", {"size": SMALL, "color": MUTED})
        if found or row < len(ladder.rungs):
            page.text(end + MEDIANS, y + middle_of(row) + 0.04, text, ha="right", **style)
    _rungs(page, axes, ladder, dims, end + STEPS, y)
    _peers(page, axes, ladder, dims, peers, end + STEPS, y)


def _rungs(page: Page, axes, ladder: Ladder, dims: dict, end: float, y: float) -> None:
    """An arrow per rung, and at `end` its step."""
    for row, rung in enumerate(ladder.rungs):
        if found := ladder.medians(rung.name, dims):
            _step_arrow(axes, middle_of(row), ladder.medians(rung.before, dims), found)
        if step := ladder.step(rung, dims):
            colour = SLOWER if step["median"] < 1 else INK
            text = f"{step['median']:.2f}×"
            page.text(end, y + middle_of(row) + 0.04, text, color=colour, weight="bold", ha="right")


def _step_arrow(axes, middle: float, before: Sequence[float], found: Sequence[float]) -> None:
    """An arrow from the median of `before`, if there is one, to that of `found`, and a dot per record."""
    end = float(np.median(found))
    if before:
        start = float(np.median(before))
        arrow(axes, middle, start, end, OURS if end <= start else SLOWER)
    axes.plot(found, [middle] * len(found), "o", color=OURS, markersize=4.5, zorder=3)


def _peers(page: Page, axes, ladder: Ladder, dims: dict, peers: Sequence[str], end: float, y: float) -> None:
    """A line through the panel per peer, and at `end` how far the last rung is from it."""
    last = ladder.rungs[-1].name
    for row, peer in enumerate(peers, len(ladder.rungs)):
        if found := ladder.peers(dims).get(peer):
            axes.axvline(np.median(found), color=PEER_COLOUR, linewidth=0.8, dashes=(4, 3), zorder=0)
            axes.plot(found, [middle_of(row)] * len(found), "D", color=PEER_COLOUR, markersize=4)
        if over := ladder.over_peer(last, peer, dims):
            page.text(end, y + middle_of(row) + 0.04, f"{last} {over:.1f}×", SMALL, PEER_COLOUR, ha="right")


def _microseconds(medians: Sequence[float]) -> str:
    median = float(np.median(medians))
    return f"{median:,.0f}" if median >= 1000 else four_digits(median)
