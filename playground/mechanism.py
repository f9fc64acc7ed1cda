"""Mechanism: why a change should matter, as a claim that a run can refute.

A verdict says that a candidate is slower; its explanation is a second claim and needs its own evidence. Each mechanism
names its test: a figure of the emulator's counts, an entry of the ledger, times, a control run, or the upper bound.
measure/mechanisms.py marks it supported, refuted or untested.
"""

from dataclasses import dataclass

from playground.errors import Refusal
from playground.kernels import Kernel, Pipeline
from playground.measure.figures import FIGURES
from playground.measure.mechanisms import LEDGER_ENTRIES


@dataclass(frozen=True)
class _Figure:
    """A figure of two kernels: what it is multiplied by, from baseline to candidate, lies in low..high.

    baseline, candidate: the probe's own where they are not given. of: one kernel, whose figure itself lies there.
    """

    figure: str
    low: float
    high: float
    candidate: Kernel | Pipeline | None = None
    baseline: Kernel | Pipeline | None = None
    of: Kernel | Pipeline | None = None

    def __post_init__(self):
        if self.figure not in self.known:
            raise Refusal(f"no figure is called {self.figure!r}: there are {', '.join(self.known)}")


class Counted(_Figure):
    """A figure of the emulator's counts, from measure/figures.py."""

    kind, known = "counted", FIGURES


class InLedger(_Figure):
    """An entry of the ledger, on the GPU at hand and on every reference GPU: each has a mark of its own."""

    kind, known = "ledger", LEDGER_ENTRIES


@dataclass(frozen=True)
class Timed:
    """The ratio of two times, baseline/candidate, in low..high: for a claim about one factor alone."""

    low: float
    high: float
    candidate: Kernel | Pipeline
    baseline: Kernel | Pipeline | None = None

    kind = "timed"


@dataclass(frozen=True)
class ControlRun:
    """The probe's change once more, in a pair of kernels that both lack the suspected cause.

    Beside the probe's own pair it makes a 2×2 table. If the cause is the cause, little of the effect is left.
    """

    without: tuple[Kernel | Pipeline, Kernel | Pipeline]
    candidate: Kernel | Pipeline | None = None
    baseline: Kernel | Pipeline | None = None

    kind = "control run"


@dataclass(frozen=True)
class UpperBound:
    """What the wall gains if the first step of the baseline, a pipeline, took no time: the ratio lies in low..high."""

    low: float
    high: float

    kind = "upper bound"


@dataclass(frozen=True)
class Untestable:
    """No test here could refute the claim, `because` of that."""

    because: str

    kind = "none"


@dataclass(frozen=True)
class Mechanism:
    """says: the claim, in the present tense. source: who makes it. test: what would refute it."""

    says: str
    source: str
    test: Counted | InLedger | Timed | ControlRun | UpperBound | Untestable

    def __post_init__(self):
        low, high = (getattr(self.test, bound, 0) for bound in ("low", "high"))
        if not low <= high:
            raise Refusal(f"{self.says}: no figure lies in {low:g} to {high:g}")

    def kernels(self) -> tuple[Kernel | Pipeline, ...]:
        """Those that the test asks for by themselves."""
        named = (getattr(self.test, role, None) for role in ("baseline", "candidate", "of"))
        return tuple(kernel for kernel in (*named, *getattr(self.test, "without", ())) if kernel)

    def statement(self, baseline: Kernel | Pipeline, candidate: Kernel | Pipeline) -> dict:
        """The claim as it goes into a record, where kernels go by their labels; with the probe's own pair."""
        test = {"kind": self.test.kind, **vars(self.test)}
        own = {"baseline": baseline, "candidate": candidate}
        test |= {role: test[role] or kernel for role, kernel in own.items() if role in test}
        return {"says": self.says, "source": self.source, "test": {name: _labelled(one) for name, one in test.items()}}


def _labelled(value):
    if isinstance(value, Kernel | Pipeline):
        return str(value)
    return [str(kernel) for kernel in value] if isinstance(value, tuple) else value
