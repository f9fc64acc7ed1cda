"""X = E[tokens]."""

from collections.abc import Mapping

import numpy as np

from playground.measure.references.expected import Expected


def embedding(inputs: Mapping[str, np.ndarray]) -> dict[str, Expected]:
    """Every f16 is an f32: the rows as they are, no error allowed but less than half of the smallest f16."""
    values = inputs["E"][inputs["tokens"]].astype(np.float64)
    return {"X": Expected(values, np.full(values.shape, 2.0**-25), "to the bit: f16 widened to f32")}
