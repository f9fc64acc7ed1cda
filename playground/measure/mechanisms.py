"""Marks of mechanisms, from a record alone: supported, refuted, or untested and why.

Counts and ledger entries are compared with the interval that the claim states. A control run is judged by what the
change gains (or loses) with the suspected cause and without it, each in every round and as logarithms:

    1. the probe's own effect is not beyond the bar             untested: there is nothing to explain
    2. without the cause, less than half of it is left          supported
    3. without the cause, more than half of it is left          refuted
    4. the interval contains one half                           untested: inconclusive

2 and 3 by the 95 % interval of the rounds' median, as in measure/verdict.py.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict

import numpy as np

from playground.compiler.arch import WARP
from playground.measure.figures import FIGURES
from playground.measure.launched import launched, steps_of
from playground.measure.layer_verdict import layer_total, timed_everywhere, upper_bounds
from playground.measure.verdict import CONTROL, LANDED, REVERTED, Ratio, paired_ratio
from playground.measure.verdict import judge as judge_times

MARKS = SUPPORTED, REFUTED, UNTESTED = "supported", "refuted", "untested"

LEDGER_ENTRIES: dict[str, Callable[[Mapping], float]] = {
    "registers": lambda ledger: ledger["registers"],
    "spilled bytes": lambda ledger: ledger["spill_stores"] + ledger["spill_loads"],
    "shared bytes": lambda ledger: ledger["static_shared"] + ledger["dynamic_shared"],
    "blocks per SM": lambda ledger: ledger["blocks_per_sm"],
    "warps per SM": lambda ledger: ledger["blocks_per_sm"] * ledger["threads"] // WARP,
}


def judge(record: Mapping, statements: Sequence[Mapping]) -> list[dict]:
    """Each statement with its `marks`: one, or of the ledger one per GPU.

    A mark has `mark`, `gpu` (None: of the PTX, the same for all), the numbers that it rests on, and `why` if untested.
    """
    return [{**one, "marks": JUDGES[one["test"]["kind"]](record, one["test"])} for one in statements]


def _by_counts(record: Mapping, test: Mapping) -> list[dict]:
    counts = record["emulated"][-1]["counts"] if record["emulated"] else {}
    return [_in_interval(test, None, FIGURES[test["figure"]], counts)]


def _by_ledger(record: Mapping, test: Mapping) -> list[dict]:
    ledgers = _ledgers(record)
    gpus = ledgers.get(test["of"] or test["candidate"], {})
    if not gpus:
        return [_untested(None, "not built in this run")]
    return [
        _in_interval(
            test, gpu, LEDGER_ENTRIES[test["figure"]], {label: per_gpu.get(gpu) for label, per_gpu in ledgers.items()}
        )
        for gpu in gpus
    ]


def _in_interval(test: Mapping, gpu: str | None, figure: Callable, found: Mapping[str, Mapping | None]) -> dict:
    """Whether the figure, or its factor from baseline to candidate, lies where the claim says."""
    sides = [test["of"]] if test["of"] else [test["baseline"], test["candidate"]]
    for side in sides:
        if not found.get(side):
            return _untested(gpu, f"{side}: not in this run")
        if "refused" in found[side]:
            return _untested(gpu, found[side]["refused"])
    try:
        values = [figure(found[side]) for side in sides]
    except KeyError as missing:
        return _untested(gpu, f"this run did not count {missing.args[0]}")
    value = values[-1] if len(values) == 1 else _factor(*values)
    return {"gpu": gpu, "mark": SUPPORTED if test["low"] <= value <= test["high"] else REFUTED, "values": values}


def _factor(before: float, after: float) -> float:
    return after / before if before else float("inf") if after else 1.0


def _by_time(record: Mapping, test: Mapping) -> list[dict]:
    gpu, times, why = _times(record, (test["baseline"], test["candidate"]))
    return [_untested(gpu, why) if why else _ratio_in_interval(test, gpu, asdict(paired_ratio(*times)))]


def _by_upper_bound(record: Mapping, test: Mapping) -> list[dict]:
    if not record["gpu"]:
        return [_untested(None, "no GPU")]
    gpu = record["gpu"]["name"]
    first = next(iter(upper_bounds(record).values()), None)
    if first is None:
        return [_untested(gpu, "the first step of the baseline was not timed on every shape, or not below the whole")]
    if first["wall"] is None:
        return [_untested(gpu, "the share of the wall is not known of these shapes")]
    return [_ratio_in_interval(test, gpu, first["wall"])]


def _ratio_in_interval(test: Mapping, gpu: str, ratio: Mapping) -> dict:
    low, high = (test["low"] <= ratio[bound] <= test["high"] for bound in ("low", "high"))
    outside = ratio["high"] < test["low"] or ratio["low"] > test["high"]
    numbers = {"ratio": ratio}
    if low and high:
        return {"gpu": gpu, "mark": SUPPORTED, **numbers}
    return {"gpu": gpu, "mark": REFUTED, **numbers} if outside else _inconclusive(gpu, numbers)


def _by_control_run(record: Mapping, test: Mapping) -> list[dict]:
    pairs = (test["baseline"], test["candidate"], *test["without"])
    gpu, times, why = _times(record, (*pairs, CONTROL))
    if why:
        return [_untested(gpu, why)]
    *sides, again = times
    table = _table(*sides)
    probe = judge_times(sides[0], sides[1], again, record["bar"])
    if probe.verdict not in (LANDED, REVERTED):
        return [_untested(gpu, f"nothing to explain: {probe.verdict}, {probe.reason}") | table]
    left = _left(*sides, gained=probe.verdict == LANDED)
    if left.high < 1:
        return [{"gpu": gpu, "mark": SUPPORTED, **table}]
    return [{"gpu": gpu, "mark": REFUTED, **table} if left.low > 1 else _inconclusive(gpu, table)]


def _table(baseline, candidate, baseline_without, candidate_without) -> dict:
    """The 2×2 table, as ratios of times: what the change gains with the cause and without it, what removing the cause
    gains for either side, and the interaction (the first over the second; 1: the factors do not touch)."""
    return {
        "effect": asdict(paired_ratio(baseline, candidate)),
        "effect_without": asdict(paired_ratio(baseline_without, candidate_without)),
        "removal_from_baseline": asdict(paired_ratio(baseline, baseline_without)),
        "removal_from_candidate": asdict(paired_ratio(candidate, candidate_without)),
        "interaction": asdict(paired_ratio(baseline * candidate_without, candidate * baseline_without)),
    }


def _left(baseline, candidate, baseline_without, candidate_without, gained: bool) -> Ratio:
    """What is left of the effect without the cause, over the square root of the effect: half of it, in logarithms."""
    half, left = np.sqrt(baseline / candidate), baseline_without / candidate_without
    return paired_ratio(left, half) if gained else paired_ratio(half, left)


def _times(record: Mapping, sides: Sequence[str]) -> tuple[str | None, list[np.ndarray], str | None]:
    """(GPU, the whole layer's times of each side, why there are none)."""
    if not record["gpu"]:
        return None, [], "no GPU"
    gpu = record["gpu"]["name"]
    missing = [side for side in sides if not timed_everywhere(record["shapes"], [side])]
    if missing:
        return gpu, [], _why_untimed(record, missing[0], gpu)
    return gpu, [layer_total(record["shapes"], side) for side in sides], None


def _why_untimed(record: Mapping, side: str, gpu: str) -> str:
    return _ledgers(record).get(side, {}).get(gpu, {}).get("refused") or f"{side}: not timed on every shape"


def _ledgers(record: Mapping) -> dict[str, Mapping[str, Mapping]]:
    """By label, those of every kernel; a pipeline has none itself, but one for each of its steps."""
    return {step["label"]: step["ledgers"] for variant in launched(record) for step in steps_of(variant)}


def _untested(gpu: str | None, why: str) -> dict:
    return {"gpu": gpu, "mark": UNTESTED, "why": why}


def _inconclusive(gpu: str, numbers: Mapping) -> dict:
    return _untested(gpu, "inconclusive: the interval contains the edge") | numbers


JUDGES = {
    "counted": _by_counts,
    "ledger": _by_ledger,
    "timed": _by_time,
    "control run": _by_control_run,
    "upper bound": _by_upper_bound,
    "none": lambda record, test: [_untested(None, test["because"])],
}
