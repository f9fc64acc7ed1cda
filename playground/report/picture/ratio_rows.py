"""The rows of the ratio panel: what each tells, and the mark that it has on the axes."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from playground.measure.layer_verdict import predictions_of
from playground.report.picture.page import INK, LIGHT, MUTED
from playground.report.picture.sides import CONTROL_COLOUR, Side, role_names, sides_of
from playground.report.tables import interval
from playground.shapes import extent

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


def rows_of(record: dict) -> list[Row]:
    """The A/A control, upper bounds, then a block per candidate: predicted, claimed, measured."""
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
    outcome = (judged or {}).get("prediction") or ""
    return [_prediction_row(prediction, outcome) for prediction in predictions_of(record)]


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
