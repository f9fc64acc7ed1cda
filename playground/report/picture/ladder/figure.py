"""The page of the ladder: times per layer and rung on each shape, what was counted of each, the source's figures."""

from matplotlib.figure import Figure

from playground.report.ladder import Ladder
from playground.report.picture.header import circumstances
from playground.report.picture.ladder.counts import counts
from playground.report.picture.ladder.rows import RIGHT, WIDTH
from playground.report.picture.ladder.source import source
from playground.report.picture.ladder.times import times
from playground.report.picture.page import FAILED, LEFT, MUTED, TITLE, Page

HEADLINE = "The flash-attention ladder: one layer's causal attention, rung by rung"


def figure(ladder: Ladder) -> Figure:
    """The picture before it is a file."""
    page = Page(WIDTH)
    y = _head(page, ladder, 0.38)
    y = times(page, ladder, y + 0.3) + 0.35
    source(page, ladder, y)
    page.cut(counts(page, ladder, y) + 0.1)
    return page.figure


def _head(page: Page, ladder: Ladder, y: float) -> float:
    y = page.lines(LEFT, y, [HEADLINE], TITLE, weight="bold")
    newest = max(ladder.records.values(), key=lambda record: record["time"])
    commits = sorted({record["commit"][:8] for record in ladder.records.values() if record["commit"]})
    facts = [circumstances(newest)[0], f"commit {', '.join(commits) or 'unknown'}", *circumstances(newest)[2:]]
    y = page.lines(LEFT, y, page.wrap(" · ".join(facts), RIGHT - LEFT), color=MUTED)
    missing = [probe for probe in ladder.probes if probe not in ladder.records]
    return page.lines(LEFT, y, [f"no record of {', '.join(missing)}"] if missing else [], color=FAILED)
