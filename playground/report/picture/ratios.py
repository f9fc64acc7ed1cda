"""Ratio: a forest plot of the verdicts, beside the bar, the A/A control, the prediction and the source's claim."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from playground.report.picture.page import (
    BODY,
    FAILED,
    INK,
    LEFT,
    LIGHT,
    MUTED,
    NORMAL,
    PLAIN,
    RIGHT,
    SMALL,
    Page,
    line_height,
    panel_title,
)
from playground.report.picture.sides import CONTROL_COLOUR, Side, role_names, sides_of
from playground.report.tables import interval
from playground.shapes import extent

BAR_BAND = "#f1f1ec"
AXIS_END = 5.9
NUMBERS, VERDICTS = 6.05, 7.9
BAND = 0.085
"""Half the height of a control's interval."""

Mark = Callable[[object, float, float], None]
"""Draws on the axes at the row's y; the second y is where the row's block ends."""


@dataclass(frozen=True)
class Row:
    """A row of the forest plot. `extent`: what the scale must contain."""

    label: str
    numbers: str = ""
    verdict: str = ""
    remark: str = ""
    mark: Mark = lambda axes, y, end: None
    extent: tuple[float, ...] = ()
    colour: str = INK
    weight: str = "normal"
    indent: float = 0.14
    starts_block: bool = False


def ratios(page: Page, record: dict, top: float) -> float:
    explanation = "time of the baseline / time of the candidate"
    if record["verdicts"]:
        explanation += ", with its 95% interval; grey: the baseline against itself"
    y = panel_title(page, top, "Ratio", explanation) + 0.15
    rows = _rows(record)
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


def _rows(record: dict) -> list[Row]:
    rows = []
    if record["verdicts"]:
        rows.append(_control_row(next(iter(record["verdicts"].values()))))
    rows += [_bound_row(label, bound["ratio"]) for label, bound in record.get("upper_bounds", {}).items()]
    candidates = [side for side in sides_of(record) if side.role == "candidate"]
    for position, side in enumerate(candidates):
        judged = record["verdicts"].get(side.key)
        verdict = "" if judged else _no_verdict(record, side)
        rows.append(Row(side.name, verdict=verdict, colour=side.colour, weight="bold", indent=0, starts_block=True))
        if position == 0:
            rows += _prediction_rows(record, judged)
            rows += [_claim_row(record["claim"])] if record["claim"] else []
        if judged:
            rows += _measured_rows(record, side, judged)
    return rows


def _no_verdict(record: dict, side: Side) -> str:
    if not record["shapes"]:
        return "not timed: no GPU"
    failed = [shape for shape in record["shapes"] if not shape["parity"].get(side.key, {"passed": True})["passed"]]
    if len(failed) == len(record["shapes"]):
        return "parity FAILED, never timed"
    if not any("samples_us" in shape for shape in record["shapes"]):
        return "not timed: parity of the baseline FAILED"
    if failed:
        return f"no verdict: parity FAILED on {', '.join(extent(shape['dims']) for shape in failed)}"
    return "no verdict: not timed on every shape"


def _control_row(judged: dict) -> Row:
    control = judged["control"]
    noise = max(control["high"] - 1, 1 - control["low"])
    return Row(
        "A/A, baseline against itself",
        interval(control),
        f"noise {noise:.2%}",
        mark=lambda axes, y, end: _band(axes, y, control),
        extent=(control["low"], control["high"]),
        colour=MUTED,
        indent=0,
    )


def _bound_row(label: str, ratio: dict) -> Row:
    return Row(
        f"upper bound: without {label}",
        interval(ratio),
        remark="measured: the whole over the whole less this part of it",
        mark=lambda axes, y, end: _marker(axes, y, y, ratio["median"]),
        extent=(ratio["median"],),
        colour=MUTED,
        indent=0,
    )


def _prediction_rows(record: dict, judged: dict | None) -> list[Row]:
    """Those for the GPU at hand; without one, all."""
    gpu = (record["gpu"] or {}).get("name")
    outcome = (judged or {}).get("prediction") or ""
    return [
        _prediction_row(prediction, outcome)
        for prediction in record["predictions"]
        if gpu is None or prediction["gpu"].lower() in gpu.lower()
    ]


def _prediction_row(prediction: dict, outcome: str) -> Row:
    low, high = prediction["low"], prediction["high"]
    return Row(
        f"predicted for {prediction['gpu']}",
        f"{low:g} to {high:g}",
        outcome,
        f"because {prediction['because']}",
        mark=lambda axes, y, end: _bracket(axes, y, low, high),
        extent=(low, high),
        colour=MUTED,
    )


def _claim_row(claim: dict) -> Row:
    ratio = 1 + claim["effect"]
    return Row(
        f"source's claim: {claim['gpu']}, {claim['level']}",
        f"{ratio:.3g} ({_signed(claim['effect'])})",
        claim["verdict"],
        claim["source"],
        mark=lambda axes, y, end: _marker(axes, y, end, ratio),
        extent=(ratio,),
        colour=MUTED,
    )


def _signed(effect: float) -> str:
    return f"{effect:+.0%}".replace("-", "−")


def _measured_rows(record: dict, side: Side, judged: dict) -> list[Row]:
    shapes = record["shapes"]
    if len(shapes) == 1:
        return [
            _measured_row(_shape_label(shapes[0]), side, judged, whole=True),
            *_wall_rows(record, side, judged),
        ]
    launches = sum(len(shape["roles"]) for shape in shapes)
    whole = "whole layer" if all(role_names(shape) for shape in shapes) else "all shapes"
    return [
        _measured_row(f"{whole}, {launches} launches", side, judged, whole=True),
        *_wall_rows(record, side, judged),
        *(_measured_row(_shape_label(shape), side, one) for shape, one in zip(shapes, judged["per_shape"])),
    ]


def _wall_rows(record: dict, side: Side, judged: dict) -> list[Row]:
    rows = []
    if "wall_measured" in judged:
        remark = f"measured on whole prefills of {record['wall']['tokens']:,} tokens"
        rows.append(replace(_measured_row("wall", side, judged["wall_measured"]), remark=remark))
    if share := record["share"]:
        remark = f"by Amdahl, with the source's share of {share['fraction']:.1%}"
        rows.append(replace(_measured_row("wall", side, judged["wall"]), remark=remark))
    return rows


def _shape_label(shape: dict) -> str:
    return f"{extent(shape['dims'])}  {role_names(shape)}".rstrip()


def _measured_row(label: str, side: Side, judged: dict, whole: bool = False) -> Row:
    ratio, control = judged["ratio"], judged["control"]

    def mark(axes, y, end):
        _band(axes, y, control)
        line, marker, size = (2.2, "D", 5.5) if whole else (1.2, "o", 3.5)
        axes.plot([ratio["low"], ratio["high"]], [y, y], color=side.colour, linewidth=line)
        axes.plot([ratio["median"]], [y], marker=marker, markersize=size, color=side.colour)

    return Row(
        label,
        interval(ratio),
        judged["verdict"].upper() if whole else judged["verdict"],
        judged["reason"] if whole else "",
        mark,
        (ratio["low"], ratio["high"], control["low"], control["high"]),
        weight="bold" if whole else "normal",
    )


def _band(axes, y: float, control: dict) -> None:
    ends = [control["low"], control["high"]]
    axes.fill_between(ends, y - BAND, y + BAND, color=CONTROL_COLOUR, linewidth=0, zorder=1)


def _marker(axes, y: float, end: float, ratio: float) -> None:
    """A stroke, and a dotted line from it through the candidate that it is about."""
    axes.plot([ratio, ratio], [y - 0.07, y + 0.07], color=INK, linewidth=1.8, solid_capstyle="butt")
    axes.plot([ratio, ratio], [y, end], color=INK, linewidth=0.7, linestyle=(0, (1, 2)), zorder=1)


def _bracket(axes, y: float, low: float, high: float) -> None:
    tip = 0.05
    axes.plot([low, low, high, high], [y + tip, y - tip, y - tip, y + tip], color=LIGHT, linewidth=1.0)


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
