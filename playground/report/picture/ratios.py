"""Ratio: a forest plot of the verdicts, beside the bar, the A/A control, the prediction and the source's claim."""

from collections.abc import Sequence

import numpy as np
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from playground.report.picture.page import (
    BODY,
    FAILED,
    INK,
    LEFT,
    MUTED,
    NORMAL,
    PLAIN,
    RIGHT,
    SMALL,
    Page,
    line_height,
    panel_title,
)
from playground.report.picture.ratio_rows import Row, rows_of

BAR_BAND = "#f1f1ec"
AXIS_END = 5.9
NUMBERS, VERDICTS = 6.05, 7.9


def ratios(page: Page, record: dict, top: float) -> float:
    explanation = "time of the baseline / time of the candidate"
    if record["verdicts"]:
        explanation += ", with its 95% interval; grey: the baseline against itself"
    y = panel_title(page, top, "Ratio", explanation) + 0.15
    rows = rows_of(record)
    limits = _ratio_limits(rows, record["bar"])
    heights = [_row_height(page, row) for row in rows]
    axes = _ratio_axes(page, limits, record["bar"], y, sum(heights))
    offsets = np.cumsum([0.0, *heights])
    starts = [offset for row, offset in zip(rows, offsets) if row.starts_block]
    for row, offset in zip(rows, offsets):
        end = min((start for start in starts if start > offset), default=offsets[-1])
        _draw_row(page, axes, row, y, offset, end)
    y += offsets[-1]
    page.text(BODY, y + 0.3, "← candidate slower", SMALL, MUTED)
    page.text(AXIS_END, y + 0.3, "candidate faster →", SMALL, MUTED, ha="right")
    return y + 0.35


def _row_height(page: Page, row: Row) -> float:
    right = max(len(_verdict(page, row)), 1) * line_height(NORMAL) + len(_remark(page, row)) * line_height(SMALL)
    left = len(_label(page, row)) * line_height(NORMAL)
    return max(left, right) + (0.12 if row.starts_block else 0.05)


def _label(page: Page, row: Row) -> list[str]:
    return page.wrap(row.label, BODY - LEFT - row.indent - 0.1, NORMAL, row.weight)


def _verdict(page: Page, row: Row) -> list[str]:
    return page.wrap(row.verdict, RIGHT - (VERDICTS if row.numbers else NUMBERS), NORMAL, row.weight)


def _remark(page: Page, row: Row) -> list[str]:
    return page.wrap(row.remark, RIGHT - NUMBERS, SMALL)


def _ratio_limits(rows: Sequence[Row], bar: float) -> tuple[float, float]:
    values = np.array([1 - 1.5 * bar, 1 + 1.5 * bar, *(value for row in rows for value in row.extent)])
    margin = (values.max() / values.min()) ** 0.05
    return values.min() / margin, values.max() * margin


def _ratio_axes(page: Page, limits: tuple[float, float], bar: float, top: float, height: float):
    low, high = limits
    width = AXIS_END - BODY
    axes = page.frame(BODY, top, width, height)
    axes.set_xscale("log")  # a factor of two is as far to either side
    axes.set(xlim=limits, ylim=(height, 0))
    axes.xaxis.set_major_locator(MaxNLocator(7, steps=[1, 2, 5, 10]) if high / low < 5 else LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(PLAIN)
    axes.axvspan(1 - bar, 1 + bar, color=BAR_BAND, linewidth=0, zorder=0)
    axes.axvline(1, color=MUTED, linewidth=0.7, zorder=1)
    place = BODY + width * np.log(1 / low) / np.log(high / low)
    page.text(min(max(place, BODY + 0.4), AXIS_END - 0.4), top - 0.05, f"bar ±{bar:.1%}", SMALL, MUTED, ha="center")
    return axes


def _draw_row(page: Page, axes, row: Row, top: float, offset: float, end: float) -> None:
    offset += 0.07 if row.starts_block else 0.0
    baseline = top + offset + 0.12
    page.lines(LEFT + row.indent, baseline, _label(page, row), color=row.colour, weight=row.weight)
    page.text(NUMBERS, baseline, row.numbers, color=row.colour if row.colour == MUTED else INK, weight=row.weight)
    ink = FAILED if "FAILED" in row.verdict else INK
    lines = _verdict(page, row)
    page.lines(VERDICTS if row.numbers else NUMBERS, baseline, lines, color=ink, weight=row.weight)
    below = baseline + (max(len(lines), 1) - 1) * line_height(NORMAL) + line_height(SMALL)
    page.lines(NUMBERS, below, _remark(page, row), SMALL, color=MUTED)
    row.mark(axes, offset + 0.08, end)
