"""The gate: every element of every output against the reference, on poisoned outputs and fresh inputs."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from playground.measure.references import Expected
from playground.runner import Outcome


@dataclass(frozen=True)
class Parity:
    """The verdict on one run. `worst`: the largest error over its own tolerance, at index `where` of `output`."""

    passed: bool
    output: str
    max_error: float
    rms_error: float
    rms_value: float
    worst: float
    where: tuple[int, ...]
    not_finite: int
    written_outside: int
    tolerance: str

    def as_record(self) -> dict:
        return asdict(self)

    def __str__(self) -> str:
        if self.written_outside:
            return f"FAILED: {self.written_outside:,} bytes written outside the arrays"
        if self.not_finite:
            return (
                f"FAILED: {self.not_finite:,} elements of {self.output} not written or not finite, as at {self.where}"
            )
        verdict = "held" if self.passed else "FAILED"
        return f"{verdict}: max error {self.max_error:.2e}, at worst {self.worst:.3f} of its tolerance, at {self.where}"


def check(outcome: Outcome, expected: Mapping[str, Expected]) -> Parity:
    """Compare whole outputs; the worst of several outputs is reported."""
    return max(
        (_compare(name, outcome.outputs[name], wanted, outcome.written_outside) for name, wanted in expected.items()),
        key=lambda parity: (not parity.passed, parity.worst),
    )


def _compare(name: str, actual: np.ndarray, expected: Expected, written_outside: int) -> Parity:
    if not np.all(expected.tolerance > 0):
        raise ValueError(f"the tolerance of {name} is not positive everywhere: {expected.source}")
    finite = np.isfinite(actual)
    error = np.abs(actual - expected.values)
    ratio = np.where(finite, error / expected.tolerance, np.inf)
    where = np.unravel_index(np.argmax(ratio), ratio.shape)
    worst = float(ratio[where])
    return Parity(
        passed=worst <= 1 and written_outside == 0,
        output=name,
        max_error=float(np.max(error, where=finite, initial=0)),
        rms_error=float(np.sqrt(np.mean(error**2, where=finite))) if finite.any() else float("nan"),
        rms_value=float(np.sqrt(np.mean(expected.values**2))),
        worst=worst,
        where=tuple(int(index) for index in where),
        not_finite=int(np.count_nonzero(~finite)),
        written_outside=written_outside,
        tolerance=expected.source,
    )
