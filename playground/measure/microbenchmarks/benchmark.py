"""A microbenchmark: a kernel, what it must find, how much work that is, and how its stamps become a rate."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from playground.kernels.kernel import Kernel
from playground.measure.references import Expected

Inputs = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Benchmark:
    """One rate.

    small: inputs for the emulator, of so many turns of the loop. full: inputs for a GPU of so many SMs and so many
    bytes of L2. work: the units of the rate that the timed part does, all blocks together. counted: the same from the
    emulator's counts, which may hold up to the part `slack` more, the loop's own. machine_code: opcode -> how many of
    it a warp executes per turn. rate: from the stamps (blocks, warps, 5) and the work. best: the sample that bounds a
    time from below, max of rates and min of times. cold: whether L2 is swept before each sample.
    """

    name: str
    unit: str
    kernel: Kernel
    small: Callable[[int], Inputs]
    full: Callable[[int, int], Inputs]
    expected: Callable[[Inputs], Mapping[str, Expected]]
    work: Callable[[Inputs], int]
    counted: Callable[[Mapping[str, float]], float]
    machine_code: Mapping[str, int]
    rate: Callable[[np.ndarray, int], float]
    slack: float = 0.0
    best: Callable = max
    cold: bool = False


def whole(values: np.ndarray) -> dict[str, Expected]:
    """`out` of whole numbers, no others; of those of 32 bits the lower 32."""
    return {"out": Expected(values.astype(np.float64), np.full(values.shape, 0.5), "to the bit: whole numbers")}


def summary(samples, unit: str, best: Callable, **run) -> dict:
    """A rate as it goes into a record: the best sample as its value, the median, all samples, and what was run."""
    values = [float(sample) for sample in samples]
    return {"value": best(values), "median": float(np.median(values)), "unit": unit, "samples": values, "run": run}
