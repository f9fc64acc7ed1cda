"""What the panels of the ladder share: a row per rung, and times as arrows on a logarithmic axis."""

from collections.abc import Sequence

from matplotlib.ticker import LogLocator, NullLocator

from playground.report.ladder import Ladder
from playground.report.picture.page import FAINT, HEADING, INK, LEFT, LIGHT, MUTED, PLAIN, SMALL, Page, line_height
from playground.report.picture.sides import CANDIDATE_COLOURS

WIDTH = 11.6
SHORTEST = 1.2
"""The least factor between the ends of an arrow that has a head."""
RIGHT = WIDTH - LEFT
BODY = 3.05
PITCH = 0.4
OURS, SLOWER = CANDIDATE_COLOURS[:2]
SOURCE_LEFT = 8.75
"""Where the panel of the source's figures begins, beside that of the counts."""
FIRST_ROW = line_height(HEADING) + 0.1 + 2 * line_height(SMALL)
"""From the title of a panel with two lines of column titles to its first row."""


def middle_of(row: int) -> float:
    return (row + 0.5) * PITCH


def name_rungs(page: Page, ladder: Ladder, y: float) -> None:
    for row, rung in enumerate(ladder.rungs):
        seen = ladder.variant(rung.name)
        page.text(LEFT, y + row * PITCH + 0.2, rung.name, color=INK if seen else LIGHT, weight="bold")
        page.text(LEFT, y + row * PITCH + 0.33, rung.idea if seen else "no record", SMALL, MUTED)


def log_axes(page: Page, values: Sequence[float], x: float, y: float, width: float, rows: int):
    axes = page.frame(x, y, width, rows * PITCH)
    axes.set_xscale("log")
    axes.set(xlim=(min(values) / 1.25, max(values) * 1.25), ylim=(rows * PITCH, 0))
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if max(values) < 50 * min(values) else (1,)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(PLAIN)
    for row in range(rows):
        axes.axhline(middle_of(row), color=FAINT, linewidth=0.5, zorder=0)
    return axes


def arrow(axes, middle: float, start: float, end: float, colour: str) -> None:
    """From a ring at `start`; without a head where both ends are so close that it would cover them."""
    style = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.6, "mutation_scale": 8, "shrinkA": 0, "shrinkB": 3}
    if max(start, end) / min(start, end) > SHORTEST:
        axes.annotate("", (end, middle), (start, middle), arrowprops=style)
    axes.plot([start], [middle], "o", color="white", markeredgecolor=colour, markersize=3.5, zorder=3)
