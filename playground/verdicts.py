"""From a run's samples to its verdicts: on each shape, on the whole layer, and on the wall."""

from collections.abc import Sequence

import numpy as np

from playground.measure import verdict
from playground.probe import Prediction, Probe


def judge(probe: Probe, shapes: list[dict], gpu: str) -> dict:
    """Per candidate that was timed on every shape: the verdict on their sum, each as often as the layer has it.

    Beside it the same on every single shape, and on the wall, in which the probe's share of the time is a stated one.
    """
    verdicts = {}
    for position, candidate in enumerate(probe.candidates):
        sides = (str(probe.baseline), str(candidate), verdict.CONTROL)
        if not all(side in shape.get("samples_us", ()) for shape in shapes for side in sides):
            continue
        total = [_layer_total(shapes, side) for side in sides]
        judged = verdict.judge(*total, bar=probe.bar)
        verdicts[str(candidate)] = {
            **judged.as_record(),
            "prediction": _check_prediction(probe.predictions, gpu, judged) if position == 0 else None,
            "wall": probe.share and verdict.judge(*total, bar=probe.bar, share=probe.share.fraction).as_record(),
            "per_shape": [_judge_shape(shape, sides, probe.bar).as_record() for shape in shapes],
        }
    return verdicts


def _judge_shape(shape: dict, sides: Sequence[str], bar: float) -> verdict.Verdict:
    return verdict.judge(*(shape["samples_us"][side] for side in sides), bar=bar)


def _layer_total(shapes: list[dict], side: str) -> np.ndarray:
    rounds = min(len(shape["samples_us"][side]) for shape in shapes)
    return sum(len(shape["roles"]) * np.array(shape["samples_us"][side][:rounds]) for shape in shapes)


def _check_prediction(predictions: Sequence[Prediction], gpu: str, judged: verdict.Verdict) -> str:
    """Whether the measured median "held" or "missed" what was predicted for this GPU; "none" if nothing was."""
    for prediction in predictions:
        if prediction.gpu.lower() in gpu.lower():
            return "held" if prediction.low <= judged.ratio.median <= prediction.high else "missed"
    return "none"
