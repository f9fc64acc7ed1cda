"""Greedy decoding: the likeliest token, one at a time, and where two decodings of the same prompt part."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from playground.prefill.decoder import Decoder


@dataclass(frozen=True)
class Continuation:
    """What follows a prompt. tops: the logit of each token. margins: by how much it is above the next best.

    Where any logit was not finite, both are NaN.
    """

    tokens: list[int]
    tops: list[float]
    margins: list[float]


@dataclass(frozen=True)
class Difference:
    """The first token that two continuations do not share: its place, and each side's choice and margin there.

    Up to there both sides saw the same tokens, so that their logits answer the same question.
    """

    step: int
    tokens: tuple[int, int]
    margins: tuple[float, float]


def greedy(decoder: Decoder, prompt: Sequence[int], tokens: int) -> Continuation:
    """Prefill the prompt, then decode `tokens` tokens, each in a forward pass of its own."""
    found = Continuation([], [], [])
    given, start = np.array(prompt, np.int64), 0
    for _ in range(tokens):
        logits = decoder.forward(given, start)
        start += len(given)
        second, first = np.partition(logits, -2)[-2:] if np.isfinite(logits).all() else (np.nan, np.nan)
        given = np.array([np.argmax(logits)])
        found.tokens.append(int(given[0]))
        found.tops.append(float(first))
        found.margins.append(float(first - second))
    return found


def first_difference(baseline: Continuation, other: Continuation) -> Difference | None:
    """None if both chose the same tokens."""
    for step, tokens in enumerate(zip(baseline.tokens, other.tokens, strict=True)):
        if tokens[0] != tokens[1]:
            return Difference(step, tokens, (baseline.margins[step], other.margins[step]))
    return None


def largest_deviation(baseline: Continuation, other: Continuation) -> float:
    """Of the chosen tokens' logits, as far as both chose the same."""
    difference = first_difference(baseline, other)
    shared = len(baseline.tokens) if difference is None else difference.step
    return float(np.max(np.abs(np.subtract(baseline.tops[:shared], other.tops[:shared])), initial=0))
