"""From paired samples to a verdict.

Samples are paired by round, and the ratio baseline/candidate (above 1: the candidate is faster) is judged by the median
of its rounds with a 95 % confidence interval from order statistics, which assumes no distribution. The A/A control is
the same ratio for the baseline against itself. The verdict starts at "inconclusive" and leaves it by the first rule
that applies:

    1. the A/A interval reaches beyond the bar on either side          inconclusive: this run cannot resolve the bar
    2. the interval lies above 1 + bar                                 landed
    3. the interval lies below 1 - bar                                 reverted
    4. the interval lies between 1 - bar and 1 + bar                   no difference
    5. otherwise (it contains an edge)                                 inconclusive: more rounds would tell
"""

from dataclasses import asdict, dataclass

import numpy as np

CONFIDENCE = 0.95
BAR = 0.015
CONTROL = "A/A"

LANDED, REVERTED, NO_DIFFERENCE, INCONCLUSIVE = "landed", "reverted", "no difference", "inconclusive"


@dataclass(frozen=True)
class Ratio:
    """The median of a paired ratio and its 95 % interval."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Verdict:
    """The verdict with the numbers it rests on, and the rule that gave it."""

    verdict: str
    reason: str
    ratio: Ratio
    control: Ratio
    bar: float

    def as_record(self) -> dict:
        return asdict(self)


def paired_ratio(baseline: np.ndarray, candidate: np.ndarray, share: float = 1.0) -> Ratio:
    """Baseline over candidate, round by round; of a whole in which the baseline has `share` of the time (Amdahl)."""
    if not all(np.all(np.isfinite(times)) and np.all(np.asarray(times) > 0) for times in (baseline, candidate)):
        return Ratio(float("nan"), float("nan"), float("nan"))
    from scipy.stats import quantile_test  # late: it takes a second, which a run without timing is spared

    ratios = amdahl(share, np.asarray(candidate, float) / np.asarray(baseline, float))
    interval = quantile_test(ratios, q=1.0, p=0.5).confidence_interval(CONFIDENCE)
    return Ratio(float(np.median(ratios)), float(interval.low), float(interval.high))


def judge(
    baseline: np.ndarray, candidate: np.ndarray, again: np.ndarray, bar: float = BAR, share: float = 1.0
) -> Verdict:
    """The verdict on `candidate`; `again` is the baseline's second side, the A/A control. share: as in paired_ratio."""
    ratio, control = paired_ratio(baseline, candidate, share), paired_ratio(baseline, again, share)
    verdict, reason = _decide(ratio, control, bar)
    return Verdict(verdict, reason, ratio, control, bar)


def _decide(ratio: Ratio, control: Ratio, bar: float) -> tuple[str, str]:
    floor = max(control.high - 1, 1 - control.low)
    if not floor <= bar:
        return INCONCLUSIVE, f"the baseline differs from itself by up to {floor:.2%}, the bar is {bar:.2%}"
    if ratio.low > 1 + bar:
        return LANDED, f"at least {ratio.low - 1:.2%} faster, the bar is {bar:.2%}"
    if ratio.high < 1 - bar:
        return REVERTED, f"at least {1 - ratio.high:.2%} slower"
    if 1 - bar < ratio.low and ratio.high < 1 + bar:
        return NO_DIFFERENCE, f"within the bar of {bar:.2%} either way"
    return INCONCLUSIVE, f"the interval contains the bar of {bar:.2%}: more rounds would tell"


def amdahl(share: float, left):
    """How many times as fast a whole is, of whose time a part `share` takes `left` times as long as before."""
    return 1 / (1 - share + share * left)
