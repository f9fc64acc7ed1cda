"""y = x in f16."""

from collections.abc import Mapping

import numpy as np

from playground.measure.references.exact import exact_f16
from playground.measure.references.expected import Expected


def convert_f32_f16(inputs: Mapping[str, np.ndarray]) -> dict[str, Expected]:
    """NumPy rounds as cvt.rn does: to nearest, ties to even."""
    return {"y": exact_f16(inputs["x"].astype(np.float16), "cvt.rn has one result")}
