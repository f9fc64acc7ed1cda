"""The source's times, an arrow each, in the two sessions that it measured in."""

from playground.report.ladder import Ladder, Rung
from playground.report.picture.ladder.rows import FIRST_ROW, PITCH, RIGHT, SOURCE_LEFT, arrow, log_axes, middle_of
from playground.report.picture.page import HEADING, INK, MUTED, SMALL, Page, line_height

GREY = "#7a7a7a"
SEED_COLOURS = {"000": GREY, "001": INK}
TIMES = 1.05
"""Width of the column of numbers."""


def source(page: Page, ladder: Ladder, top: float) -> None:
    page.rule(SOURCE_LEFT, RIGHT, top - 0.2)
    page.text(SOURCE_LEFT, top, "The source's own, on its GB10", HEADING, GREY, weight="bold")
    y = top + FIRST_ROW
    page.text(RIGHT, y - line_height(SMALL), "ms per layer", SMALL - 0.5, MUTED, ha="right")
    values = [time for rung in ladder.rungs for time in rung.source_ms or () if time]
    axes = log_axes(page, values, SOURCE_LEFT, y, RIGHT - SOURCE_LEFT - TIMES, len(ladder.rungs))
    for row, rung in enumerate(ladder.rungs):
        _row(page, axes, rung, middle_of(row), y)
    note = " ".join(["grey: seed 000; black: seed 001.", *_disagreements(ladder)])
    bottom = y + len(ladder.rungs) * PITCH + 0.3
    page.lines(SOURCE_LEFT, bottom, page.wrap(note, RIGHT - SOURCE_LEFT, SMALL - 0.5), SMALL - 0.5, color=MUTED)


def _row(page: Page, axes, rung: Rung, middle: float, y: float) -> None:
    if rung.source_ms is None:
        page.text(RIGHT, y + middle + 0.04, "with the next", SMALL, MUTED, ha="right")
        return
    (before, after), colour = rung.source_ms, SEED_COLOURS[rung.seed]
    if before:
        arrow(axes, middle, before, after, colour)
    axes.plot([after], [middle], "s", color=colour, markersize=3.8, zorder=3)
    text = f"{before:g} → {after:g}" if before else f"{after:g}"
    page.text(RIGHT, y + middle + 0.04, text, color=colour, ha="right")


def _disagreements(ladder: Ladder) -> list[str]:
    """Rungs whose own time and whose time as the rung before are of two seeds and differ."""
    own = {rung.name: rung for rung in ladder.rungs if rung.source_ms}
    pairs = ((own[rung.before], rung) for rung in own.values() if rung.before in own)
    said = [
        f"{one.name} is {one.source_ms[1]:g} ms in the one and {next_one.source_ms[0]:g} ms in the other."
        for one, next_one in pairs
        if one.seed != next_one.seed
    ]
    return list(dict.fromkeys(said))
