"""The steps that a probe walks: build, emulate, foretell, run, check, time, judge."""

from playground.walk.options import QUICK_ROUNDS, ROUNDS, Options
from playground.walk.record import gates_held, walk

__all__ = ["QUICK_ROUNDS", "ROUNDS", "Options", "gates_held", "walk"]
