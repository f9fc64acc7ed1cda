"""Mechanisms: each claim with its marks, the numbers behind them, and the 2×2 table of a control run."""

from collections.abc import Mapping

from playground.measure.mechanisms import REFUTED, SUPPORTED, UNTESTED
from playground.report.marks import numbers
from playground.report.picture.page import BODY, INK, LEFT, MUTED, NORMAL, RIGHT, SMALL, Page, line_height, panel_title
from playground.report.tables import interval

COLOURS = {SUPPORTED: "#0072b2", REFUTED: "#d55e00", UNTESTED: MUTED}
COLUMNS = (BODY + 1.5, BODY + 3.4, BODY + 5.3)


def mechanisms(page: Page, record: dict, top: float) -> float:
    """Nothing for a record without mechanisms."""
    if not record.get("mechanisms"):
        return top - 0.35
    y = panel_title(page, top, "Mechanisms", "why it should be so, claim by claim, and what the run says of it") + 0.08
    for mechanism in record["mechanisms"]:
        heading = f"{mechanism['says']} ({mechanism['source']})"
        y = page.lines(BODY, y, page.wrap(heading, RIGHT - BODY, NORMAL, "bold"), weight="bold")
        for mark in mechanism["marks"]:
            y = _mark(page, mechanism, mark, y)
        y += 0.07
    return y


def _mark(page: Page, mechanism: Mapping, mark: Mapping, y: float) -> float:
    page.text(LEFT, y, mark["mark"], NORMAL, COLOURS[mark["mark"]], weight="bold")
    page.text(LEFT + 0.85, y, mark["gpu"] or "", SMALL, MUTED)
    if "effect" not in mark:
        return page.lines(BODY, y, page.wrap(numbers(mechanism, mark), RIGHT - BODY, SMALL), SMALL, color=MUTED)
    if "why" in mark:
        y = page.lines(BODY, y, page.wrap(mark["why"], RIGHT - BODY, SMALL), SMALL, color=MUTED)
    return _table(page, mark, y)


def _table(page: Page, mark: Mapping, y: float) -> float:
    """Speeds over the baseline's as it is, and in the margins what either factor gains."""
    effect, gained = mark["effect"]["median"], mark["removal_from_candidate"]
    rows = (
        ("", "with the cause", "without it", "removing it gains"),
        ("baseline", "1", f"{mark['removal_from_baseline']['median']:.3f}", interval(mark["removal_from_baseline"])),
        ("candidate", f"{effect:.3f}", f"{effect * gained['median']:.3f}", interval(gained)),
        (
            "the change gains",
            interval(mark["effect"]),
            interval(mark["effect_without"]),
            f"interaction {interval(mark['interaction'])}",
        ),
    )
    for label, *cells in rows:
        page.text(BODY, y, label, SMALL, MUTED)
        for x, cell in zip(COLUMNS, cells):
            page.text(x, y, cell, SMALL, MUTED if not label else INK)
        y += line_height(SMALL)
    return y
