"""out = gate · sigmoid(gate) · up."""

from collections.abc import Mapping

import numpy as np

from playground.measure.references.expected import Expected


def swiglu(inputs: Mapping[str, np.ndarray]) -> dict[str, Expected]:
    """In float64.

    Tolerance, relative: the exponent gate · log₂e is rounded (2⁻²⁴ of it, twice with the constant's own rounding, which
    is |gate| · 2⁻²³ of the exponential), the exponential is good to 2 units (2⁻²²), the reciprocal to 1 (2⁻²³), and the
    sum and two products are rounded (2⁻²⁴ each). Where the exponential overflows, from gate = -88 down, or its
    reciprocal is subnormal, the result is 0: absolutely that is off by at most 2⁻¹¹⁹ · |up|.
    """
    gate, up = inputs["gate"].astype(np.float64), inputs["up"].astype(np.float64)
    with np.errstate(over="ignore"):
        values = gate / (1 + np.exp(-gate)) * up
    relative = np.abs(gate) * 2.0**-23 + 2.0**-22 + 2.0**-23 + 3 * 2.0**-24
    tolerance = np.abs(values) * relative + np.abs(up) * 2.0**-119 + 2.0**-149
    return {"out": Expected(values, tolerance, "|gate| · 2^-23 + 9 · 2^-24 relative: ex2, rcp and three roundings")}
