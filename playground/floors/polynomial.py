"""Exact interpolation: the polynomial through values on a grid of points, of one degree in each variable."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction


def weights(samples: Sequence[int], at: int) -> list[Fraction]:
    """Lagrange's: of the values at the samples, so weighted, the sum is their polynomial's value at `at`.

    Its degree is len(samples) - 1.
    """
    return [
        math.prod((Fraction(at - other, sample - other) for other in samples if other != sample), start=Fraction(1))
        for sample in samples
    ]


def interpolate(axes: Sequence[Sequence[int]], values: Mapping[tuple[int, ...], int], at: Sequence[int]) -> Fraction:
    """The value at `at` of the polynomial through values[point], for every point of the grid that the axes span."""
    terms: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
    for samples, place in zip(axes, at):
        along = list(zip(samples, weights(samples, place)))
        terms = {(*point, x): term * weight for point, term in terms.items() for x, weight in along}
    return sum((term * values[point] for point, term in terms.items()), start=Fraction(0))
