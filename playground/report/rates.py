"""Rates: what a side gets done per second, in the unit that the kernels' contract tells its speed in."""

from collections.abc import Mapping

import numpy as np

COUNTED = {"TFLOP/s": ("flop", 1e6), "GB/s": ("bytes", 1e3)}
"""Unit -> the work it counts, and how much of that in a microsecond is one unit."""


def rates(work: Mapping, microseconds) -> np.ndarray:
    """The rates of launches that each did the `work` of a shape's record in so many microseconds."""
    counted, per_unit = COUNTED[work["unit"]]
    return work[counted] / np.asarray(microseconds, float) / per_unit
