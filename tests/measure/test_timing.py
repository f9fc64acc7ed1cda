"""The order of the sides: nobody has a place, or a neighbour, more often than another."""

from collections import Counter
from itertools import pairwise

import pytest

from playground.measure.timing import order, rounds_for

SIDES = [2, 3, 4, 5, 6]


@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("wanted", [1, 24, 100])
def test_the_rounds_are_the_least_multiple_of_the_cycle_from_the_wanted_up(sides, wanted):
    rounds = rounds_for(sides, wanted)
    assert rounds >= wanted
    assert rounds % (2 * sides) == 0
    assert rounds - wanted < 2 * sides


@pytest.mark.parametrize("sides", SIDES)
def test_every_round_launches_each_side_once(sides):
    for round_number in range(rounds_for(sides, 24)):
        assert sorted(order(sides, round_number)) == list(range(sides))


@pytest.mark.parametrize("sides", SIDES)
def test_each_side_stands_in_each_place_equally_often(sides):
    rounds = rounds_for(sides, 24)
    places = Counter((side, place) for r in range(rounds) for place, side in enumerate(order(sides, r)))
    assert len(places) == sides**2
    assert set(places.values()) == {rounds // sides}


@pytest.mark.parametrize("sides", SIDES)
def test_each_side_comes_before_each_other_equally_often(sides):
    rounds = rounds_for(sides, 24)
    before = Counter(
        (first, second)
        for r in range(rounds)
        for place, first in enumerate(order(sides, r))
        for second in order(sides, r)[place + 1 :]
    )
    assert len(before) == sides * (sides - 1)
    assert set(before.values()) == {rounds // 2}


@pytest.mark.parametrize("sides", SIDES)
def test_each_side_follows_directly_on_each_other_equally_often(sides):
    rounds = rounds_for(sides, 24)
    neighbours = Counter(pair for r in range(rounds) for turn in [order(sides, r)] for pair in pairwise(turn))
    assert len(neighbours) == sides * (sides - 1)
    assert set(neighbours.values()) == {rounds // sides}
