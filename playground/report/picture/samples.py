"""Samples: every launch of every side as a dot, in TFLOP/s or GB/s, a cell per shape."""

from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.markers import CARETLEFTBASE, CARETRIGHTBASE
from matplotlib.ticker import MaxNLocator

from playground.measure.verdict import CONTROL
from playground.report.floors import gpu_with_floors
from playground.report.picture.page import (
    BODY,
    FAILED,
    HEADING,
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
from playground.report.picture.sides import BASELINE_COLOUR, Side, role_names, side_name, sides_of
from playground.report.rates import rates
from playground.shapes import extent

COLUMNS = 4
MEDIANS = 0.45
"""Width of the column of numbers at the right of a cell."""


def samples(page: Page, record: dict, top: float) -> float:
    shapes = _with_floors(record)
    if not shapes:
        page.text(BODY, top, "not timed: no GPU", HEADING, weight="bold")
        return panel_title(page, top, "Samples", "")
    unit = shapes[0]["unit"]
    explanation = f"{unit} of every launch; the stroke and the number: their median; each shape on its own scale"
    if "floor_us" in shapes[0]:
        explanation += "; ≤: what its floor allows"
    y = panel_title(page, top, "Samples", explanation) + 0.08
    groups = _scales(shapes, sides_of(record))
    columns = min(COLUMNS, len(shapes))
    for start in range(0, len(shapes), columns):
        y += 0.2 if start else 0
        y = _row_of_cells(page, shapes[start : start + columns], groups, record["bar"], (RIGHT - BODY) / columns, y)
    if strays := [stray for shape in shapes for sides in groups for stray in _strays(shape, sides, record["bar"])]:
        farthest = f"the farthest {max(strays):.0%} from the median of its side"
        page.text(BODY, y, f"triangles: {len(strays)} samples beyond the scale, {farthest}", SMALL, MUTED)
        y += line_height(SMALL)
    return y


def _with_floors(record: dict) -> list[dict]:
    """The shapes, with "floor_us" of every side that has a floor on the GPU at hand."""
    gpu = gpu_with_floors(record)
    if gpu is None:
        return record["shapes"]
    return [
        shape | {"floor_us": {label: one["us"] for label, one in entry["gpus"][gpu].items() if "us" in one}}
        for shape, entry in zip(record["shapes"], record["floors"])
    ]


def _scales(shapes: Sequence[dict], sides: Sequence[Side]) -> list[list[Side]]:
    """Sides that share a scale: peers far from our kernels would squeeze them to a point, and get their own."""
    ours, peers = ([side for side in sides if (side.role == "peer") == apart] for apart in (False, True))
    if not peers or not any(_far(shape, ours, peers) for shape in shapes):
        return [list(sides)]
    return [ours, peers]


def _far(shape: dict, ours: Sequence[Side], peers: Sequence[Side]) -> bool:
    medians, others = ([np.median(rates) for rates in _timed(shape, sides).values()] for sides in (ours, peers))
    if not medians or not others:
        return False
    low, high = min(medians), max(medians)
    reach = max(high - low, 0.05 * high)
    return min(others) < low - reach or max(others) > high + reach


def _row_of_cells(page: Page, shapes: Sequence[dict], groups, bar: float, pitch: float, top: float) -> float:
    """A cell per shape, the sides' names at the left."""
    places = [BODY + column * pitch for column in range(len(shapes))]
    y = max(_cell_title(page, shape, groups[0][0], x, top, pitch - 0.12) for shape, x in zip(shapes, places))
    for sides in groups:
        pace = 0.19 + line_height(NORMAL) * max(len(side_name(page, side)) for side in sides)
        for position, side in enumerate(sides):
            _name_side(page, side, y + (position + 0.5) * pace)
        for shape, x in zip(shapes, places):
            _cell(page, shape, sides, bar, (x, y), (pitch - 0.12, pace))
        y += pace * len(sides)
        page.text(BODY - 0.22, y + 0.13, shapes[0]["unit"], SMALL, MUTED, ha="right")
        y += 0.3
    return y + 0.05


def _cell_title(page: Page, shape: dict, baseline: Side, x: float, top: float, width: float) -> float:
    y = page.lines(x, top, page.wrap(extent(shape["dims"]), width, NORMAL, "bold"), weight="bold")
    facts = [role_names(shape)] if role_names(shape) else []
    if (samples := shape.get("samples_us", {}).get(baseline.key)) is not None:
        facts.append(f"baseline {np.median(samples):,.0f} µs")
    return page.lines(x, y, page.wrap(" · ".join(facts), width, SMALL), SMALL, color=MUTED)


def _name_side(page: Page, side: Side, middle: float) -> None:
    lines = side_name(page, side)
    colour = MUTED if side.key == CONTROL else side.colour
    y = middle + 0.05 - len(lines) * line_height(NORMAL) / 2
    y = page.lines(LEFT, y, lines, color=colour, weight="bold")
    page.text(LEFT, y - 0.03, side.role, SMALL - 0.5, MUTED)


def _cell(page: Page, shape: dict, sides: Sequence[Side], bar: float, corner, size) -> None:
    """All samples of these sides on one shape, their medians at the right. size: width of all, height of one row."""
    (x, y), (width, pace) = corner, size
    inner, height = width - MEDIANS, pace * len(sides)
    axes = page.frame(x, y, inner, height)
    axes.set(ylim=(height, 0), xticks=[])
    timed = _timed(shape, sides)
    if timed:
        axes.set_xlim(_limits(timed.values(), bar))
        axes.xaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 5, 10]))
        axes.xaxis.set_major_formatter(PLAIN)
    if sides[0].role == "baseline" and sides[0] in timed:
        axes.axvline(np.median(timed[sides[0]]), color=BASELINE_COLOUR, linewidth=0.6, dashes=(3, 3), zorder=0)
    for position, side in enumerate(sides):
        middle = (position + 0.5) * pace
        if side in timed:
            _strip(axes, timed[side], middle, side.colour, inner)
            page.text(x + width - 0.05, y + middle + 0.04, four_digits(np.median(timed[side])), SMALL, ha="right")
            if (floor := shape.get("floor_us", {}).get(side.key)) is not None:
                most = f"≤ {four_digits(rates(shape, floor))}"
                page.text(x + width - 0.05, y + middle + 0.15, most, SMALL - 0.5, MUTED, ha="right")
        else:
            _untimed(page, shape, side, x, y + middle, width)


def _untimed(page: Page, shape: dict, side: Side, x: float, middle: float, width: float) -> None:
    text, colour = _why_untimed(shape, side)
    lines = page.wrap(text, width, SMALL)
    white = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
    page.lines(x, middle + 0.04 - 0.065 * (len(lines) - 1), lines, SMALL, color=colour, bbox=white)


def _why_untimed(shape: dict, side: Side) -> tuple[str, str]:
    gate = {**shape["parity"], **shape.get("peer_parity", {})}.get(side.key)
    return ("parity FAILED, never timed", FAILED) if gate and not gate["passed"] else ("not timed", MUTED)


def _timed(shape: dict, sides: Sequence[Side]) -> dict[Side, np.ndarray]:
    """Rates of the sides that have samples."""
    samples = shape.get("samples_us", {})
    return {side: rates(shape, samples[side.key]) for side in sides if side.key in samples}


def _strays(shape: dict, sides: Sequence[Side], bar: float) -> list[float]:
    """Of each sample beyond the scale: how far it lies from the median of its side, relative to that."""
    if not (timed := _timed(shape, sides)):
        return []
    low, high = _limits(timed.values(), bar)
    return [
        abs(rate / np.median(rates) - 1) for rates in timed.values() for rate in rates[(rates < low) | (rates > high)]
    ]


def _limits(rates: Iterable[np.ndarray], bar: float) -> tuple[float, float]:
    """A scale for the bulk of every side, so that a stray launch does not flatten the rest."""
    lows, highs = zip(*(_bulk(values, bar) for values in rates))
    low, high = min(lows), max(highs)
    margin = max(0.06 * (high - low), 0.5 * bar * high)
    return low - margin, high + margin


def _bulk(values: np.ndarray, bar: float) -> tuple[float, float]:
    """From the lowest to the highest value within four interquartile ranges, or two bars, of the quartiles."""
    first, median, third = np.quantile(values, (0.25, 0.5, 0.75))
    reach = max(4 * (third - first), 2 * bar * median)
    inside = values[(values >= first - reach) & (values <= third + reach)]
    return inside.min(), inside.max()


def _strip(axes, rates: np.ndarray, middle: float, colour: str, inches: float) -> None:
    """The samples as a swarm around `middle`, those beyond the scale as a triangle at its end."""
    low, high = axes.get_xlim()
    inside = rates[(rates >= low) & (rates <= high)]
    axes.scatter(inside, middle + swarm(inside, (low, high), inches), s=2.6, color=colour, linewidths=0, zorder=2)
    median = np.median(rates)
    for width, ink in ((2.8, "white"), (1.3, INK)):
        stroke = {"color": ink, "linewidth": width, "solid_capstyle": "butt", "zorder": 3}
        axes.plot([median, median], [middle - 0.13, middle + 0.13], **stroke)
    for end, beyond, triangle in ((low, rates < low, CARETLEFTBASE), (high, rates > high, CARETRIGHTBASE)):
        if beyond.any():
            axes.plot([end], [middle], marker=triangle, color=colour, markersize=4, clip_on=False, markeredgewidth=0)


def swarm(values: np.ndarray, limits: tuple[float, float], inches: float) -> np.ndarray:
    """Offsets in inches that spread values of the same place evenly to both sides of the line."""
    dot, reach = 0.022, 0.14
    places = np.floor((values - limits[0]) / (limits[1] - limits[0]) * inches / dot).astype(int)
    offsets = np.zeros(len(values))
    for place in np.unique(places):
        here = np.flatnonzero(places == place)
        step = min(dot, 2 * reach / len(here))
        offsets[here[np.argsort(values[here], kind="stable")]] = step * (np.arange(len(here)) - (len(here) - 1) / 2)
    return offsets


def four_digits(value: float) -> str:
    return f"{value:#.4g}".rstrip(".")
