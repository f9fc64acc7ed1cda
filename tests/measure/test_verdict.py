"""The verdict: every rule of its tree, its interval, and how often it is wrong on simulated noise (seeded)."""

from collections import Counter
from math import comb

import numpy as np
import pytest

from playground.measure.verdict import BAR, INCONCLUSIVE, LANDED, NO_DIFFERENCE, REVERTED, judge, paired_ratio

ROUNDS = 100


def steady(factor=1.0, rounds=ROUNDS, spread=0.001):
    """Times around 100 · factor that alternate by ± spread, the same in every call."""
    return 100 * factor * (1 + spread * np.tile([-1, 1], rounds // 2))


def test_the_bar_is_the_seeds():
    """Seed 001, §1: "below the +1.5% bar"."""
    assert BAR == 0.015


@pytest.mark.parametrize(
    ("baseline", "candidate", "again", "verdict"),
    [
        pytest.param(
            steady(), steady(1 / 1.03), steady(1.02), INCONCLUSIVE, id="1: the baseline is slower than itself"
        ),
        pytest.param(
            steady(), steady(1 / 1.03), steady(0.98), INCONCLUSIVE, id="1: the baseline is faster than itself"
        ),
        pytest.param(steady(), steady(1 / 1.03), steady(), LANDED, id="2: 3 % faster"),
        pytest.param(steady(), steady(1 / 0.97), steady(), REVERTED, id="3: 3 % slower"),
        pytest.param(steady(), steady(1 / 1.003), steady(), NO_DIFFERENCE, id="4: 0.3 % faster"),
        pytest.param(steady(), steady(1 / 0.99), steady(), NO_DIFFERENCE, id="4: 1 % slower"),
        pytest.param(steady(), steady(1 / 1.015, spread=0.01), steady(), INCONCLUSIVE, id="5: at the bar"),
        pytest.param(steady(), steady(1 / 0.985, spread=0.01), steady(), INCONCLUSIVE, id="5: at the bar, slower"),
        pytest.param(steady(), steady(1, spread=0.1), steady(), INCONCLUSIVE, id="5: wider than the bar both ways"),
    ],
)
def test_every_rule_of_the_tree_gives_its_verdict(baseline, candidate, again, verdict):
    assert judge(baseline, candidate, again).verdict == verdict


def test_a_verdict_says_the_numbers_it_rests_on():
    verdict = judge(steady(), steady(1 / 1.03), steady(1 / 1.004))
    assert verdict.ratio.median == pytest.approx(1.03, rel=2e-3)
    assert verdict.control.median == pytest.approx(1.004, rel=2e-3)
    assert verdict.ratio.low <= verdict.ratio.median <= verdict.ratio.high
    assert verdict.as_record()["bar"] == BAR
    assert "1.50%" in verdict.reason


def test_the_bar_can_be_set():
    times = steady(), steady(1 / 1.03), steady()
    assert judge(*times, bar=0.05).verdict == NO_DIFFERENCE
    assert judge(*times, bar=0.02).verdict == LANDED


def test_the_ratio_is_of_the_rounds_and_not_of_the_medians():
    """Both sides drift by 40 % over the run, and every round says 2 %."""
    drift = np.linspace(100, 140, ROUNDS)
    assert paired_ratio(drift * 1.02, drift).median == pytest.approx(1.02)
    assert paired_ratio(drift * 1.02, drift).high == pytest.approx(1.02)


def test_of_a_whole_the_ratio_is_amdahls():
    """Seed 001: a kernel of 10.2 % of the wall that gets 2.43 times faster; the source measured +5.6 %."""
    whole = paired_ratio(np.full(ROUNDS, 2.43), np.ones(ROUNDS), share=0.102)
    assert whole.median == pytest.approx(100 / (89.8 + 10.2 / 2.43))
    assert whole.median == pytest.approx(1.0638, abs=1e-4)


@pytest.mark.parametrize(("rounds", "low", "high"), [(6, 1, 6), (24, 7, 18), (100, 40, 61)])
def test_the_interval_lies_between_the_order_statistics_of_the_sign_test(rounds, low, high):
    """The most central pair of ranks that a median lies between with 95 % or more, by the binomial distribution."""

    def coverage(rank):
        return 1 - 2 * sum(comb(rounds, k) for k in range(rank)) / 2**rounds

    assert coverage(low) >= 0.95 > coverage(low + 1)
    shuffled = np.random.default_rng(1).permutation(np.arange(1.0, rounds + 1))
    ratio = paired_ratio(shuffled, np.ones(rounds))
    assert (ratio.low, ratio.high) == (low, high)
    assert ratio.median == (rounds + 1) / 2


@pytest.mark.parametrize("rounds", [24, 100])
def test_the_interval_contains_the_true_ratio_in_at_least_95_percent_of_trials(rounds):
    """Skewed noise whose median is known: the logarithms are normal."""
    random, trials, contained = np.random.default_rng(2), 500, 0
    for _ in range(trials):
        baseline, candidate = np.exp(0.02 * random.standard_normal((2, rounds)))
        ratio = paired_ratio(1.03 * baseline, candidate)
        contained += ratio.low <= 1.03 <= ratio.high
    assert 0.93 <= contained / trials <= 0.99


@pytest.mark.parametrize("rounds", [1, 2, 3, 5])
def test_too_few_rounds_for_an_interval_are_inconclusive(rounds):
    times = np.full(rounds, 100.0)
    assert judge(times, times / 2, times).verdict == INCONCLUSIVE
    assert judge(times, times, times).verdict == INCONCLUSIVE


def test_a_control_that_was_not_measured_is_inconclusive():
    assert judge(steady(), steady(1 / 1.03), np.full(ROUNDS, np.nan)).verdict == INCONCLUSIVE


def gaussian(random, rounds, sigma=0.01):
    return 1 + sigma * random.standard_normal((3, rounds))


def heavy_tailed(random, rounds):
    """1 % noise, and one launch in ten that something held up, by up to half its time."""
    return gaussian(random, rounds) * (1 + 0.5 * random.random((3, rounds)) * (random.random((3, rounds)) < 0.1))


def drifting(random, rounds):
    """1 % noise on clocks that wander in common by several percent."""
    return gaussian(random, rounds) * np.exp(np.cumsum(0.005 * random.standard_normal(rounds)))


def verdicts(noise, trials, effect=0.0, rounds=ROUNDS, seed=3):
    """How often each verdict falls on a candidate that is faster by `effect`."""
    random, counts = np.random.default_rng(seed), Counter()
    for _ in range(trials):
        baseline, candidate, again = 100 * noise(random, rounds)
        counts[judge(baseline, candidate / (1 + effect), again).verdict] += 1
    return counts


@pytest.mark.parametrize("noise", [gaussian, heavy_tailed, drifting])
def test_under_1_percent_of_1000_identical_kernels_get_a_verdict(noise):
    counts = verdicts(noise, trials=1000)
    assert counts[LANDED] + counts[REVERTED] < 10
    assert counts[NO_DIFFERENCE] > 900


@pytest.mark.parametrize("sigma", [0.02, 0.04])
def test_identical_kernels_get_no_verdict_from_few_and_noisy_rounds(sigma):
    counts = verdicts(lambda random, rounds: gaussian(random, rounds, sigma), trials=300, rounds=24)
    assert counts[LANDED] + counts[REVERTED] < 3


@pytest.mark.parametrize(("effect", "verdict"), [(0.03, LANDED), (-0.03, REVERTED)])
def test_a_true_effect_of_3_percent_is_found_under_1_percent_noise(effect, verdict):
    assert verdicts(gaussian, trials=200, effect=effect)[verdict] > 190


def test_the_wall_gain_that_the_source_reverted_never_lands():
    """Seed 001, §1: FAP1 gained 0.27 % of the wall."""
    counts = verdicts(gaussian, trials=200, effect=0.0027)
    assert counts[LANDED] == 0
    assert counts[REVERTED] == 0


def test_noise_larger_than_the_bar_is_inconclusive():
    counts = verdicts(lambda random, rounds: gaussian(random, rounds, 0.1), trials=200, effect=0.03)
    assert counts[INCONCLUSIVE] > 190
