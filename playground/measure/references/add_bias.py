"""Y = X + bias."""

from collections.abc import Mapping

import numpy as np

from playground.measure.references.expected import Expected


def add_bias(inputs: Mapping[str, np.ndarray]) -> dict[str, Expected]:
    """In float64. Tolerance: one rounding, half a unit in the last place."""
    values = inputs["X"].astype(np.float64) + inputs["bias"]
    return {"Y": Expected(values, np.abs(values) * 2.0**-24 + 2.0**-149, "2^-24 relative: one f32 rounding")}
