"""From a run's samples to its verdicts: on each shape, on the whole layer, and on the wall."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from playground.measure import verdict


def judge(record: Mapping) -> dict:
    """Per candidate that was timed on every shape: the verdict on their sum, each as often as the layer has it.

    Beside it the same on every single shape; on the wall, in which the probe's share of the time is a stated one, or
    None; and on the wall as measured, where whole prefills were. From the record alone, so that an old one can be
    judged again.
    """
    (baseline, *candidates), bar = (variant["label"] for variant in record["variants"]), record["bar"]
    verdicts = {}
    for position, candidate in enumerate(candidates):
        sides = (baseline, candidate, verdict.CONTROL)
        if not timed_everywhere(record["shapes"], sides):
            continue
        total = [layer_total(record["shapes"], side) for side in sides]
        judged = verdict.judge(*total, bar=bar)
        verdicts[candidate] = {
            **judged.as_record(),
            "prediction": None if position else _check_prediction(record, judged),
            "wall": record["share"] and verdict.judge(*total, bar=bar, share=record["share"]["fraction"]).as_record(),
            **_judge_measured_wall(record, sides, bar),
            "per_shape": [_judge_shape(shape, sides, bar).as_record() for shape in record["shapes"]],
        }
    return verdicts


def upper_bounds(record: Mapping) -> dict:
    """If the baseline is a pipeline, for each of its beginnings: the ratio if that took no time, and on the wall.

    "Measure the upper bound before writing the kernel" (seed 000, §6): whole / (whole - beginning), over the layer.
    From cold caches, as the whole begins; with the time that any launch takes, so the bound is rather too high. None
    where a beginning took as long as the whole in some round, as launches of little work do.
    """
    baseline, shapes = record["variants"][0]["label"], record["shapes"]
    names = dict.fromkeys(name for shape in shapes for name in shape.get("beginnings_us", ()))
    bounds = {}
    for name in names:
        if all(name in shape.get("beginnings_us", ()) for shape in shapes):
            whole, beginning = layer_total(shapes, baseline), layer_total(shapes, name, "beginnings_us")
            if not np.all(beginning < whole):
                continue
            share = record["share"] and record["share"]["fraction"]
            bounds[name] = {
                "ratio": asdict(verdict.paired_ratio(whole, whole - beginning)),
                "wall": share and asdict(verdict.paired_ratio(whole, whole - beginning, share)),
            }
    return bounds


def timed_everywhere(shapes: Sequence[Mapping], sides: Sequence[str]) -> bool:
    """Whether every side has samples on every shape, and there is a shape."""
    return bool(shapes) and all(side in shape.get("samples_us", ()) for shape in shapes for side in sides)


def _judge_shape(shape: Mapping, sides: Sequence[str], bar: float) -> verdict.Verdict:
    return verdict.judge(*(shape["samples_us"][side] for side in sides), bar=bar)


def _judge_measured_wall(record: Mapping, sides: Sequence[str], bar: float) -> dict:
    samples = record.get("wall", {}).get("samples_us", {})
    if any(side not in samples for side in sides):
        return {}
    return {"wall_measured": verdict.judge(*(np.array(samples[side]) for side in sides), bar=bar).as_record()}


def layer_total(shapes: Sequence[Mapping], side: str, samples: str = "samples_us") -> np.ndarray:
    """Per round, the times of a side on all shapes, each as often as the layer has it [µs]."""
    rounds = min(len(shape[samples][side]) for shape in shapes)
    return sum(len(shape["roles"]) * np.array(shape[samples][side][:rounds]) for shape in shapes)


def predictions_of(record: Mapping) -> list[Mapping]:
    """What was predicted for the GPU that the record is of; for every GPU if it is of none."""
    gpu = record["gpu"] and record["gpu"]["name"].lower()
    return [prediction for prediction in record["predictions"] if gpu is None or prediction["gpu"].lower() in gpu]


def _check_prediction(record: Mapping, judged: verdict.Verdict) -> str:
    """Whether the measured median "held" or "missed" what was predicted for this GPU; "none" if nothing was."""
    for prediction in predictions_of(record):
        return "held" if prediction["low"] <= judged.ratio.median <= prediction["high"] else "missed"
    return "none"
