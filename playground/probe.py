"""Probe: one question about one change to a kernel, with what the source claims and what we predict."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from playground.errors import Refusal
from playground.kernels import Kernel, Pipeline
from playground.measure.verdict import BAR
from playground.mechanism import Mechanism
from playground.shapes import Shape


@dataclass(frozen=True)
class Claim:
    """What the source measured for the first candidate. `effect`: change of speed, +0.30 is 30 % faster."""

    gpu: str
    effect: float
    verdict: str
    level: str
    source: str

    def __str__(self) -> str:
        return f"{self.effect:+.0%} on the {self.level} of {self.gpu}, {self.verdict} ({self.source})"


@dataclass(frozen=True)
class Share:
    """The part of the whole prefill's time that the probe's kernels take: stated by the source, not measured here."""

    fraction: float
    source: str


@dataclass(frozen=True)
class Prediction:
    """What we expect of the first candidate on a GPU, and why: the ratio baseline/candidate lies in low..high."""

    gpu: str
    low: float
    high: float
    because: str

    def __post_init__(self):
        if not self.low <= self.high:
            raise Refusal(f"no ratio lies in {self.low:g} to {self.high:g}, as predicted for {self.gpu}")

    def __str__(self) -> str:
        return f"ratio {self.low:g} to {self.high:g} on {self.gpu}, because {self.because}"


@dataclass(frozen=True)
class Probe:
    """A baseline and one or more candidates, compared on `shapes`.

    claim: what the source measured for the first candidate. share: of the whole prefill, for the verdict on the wall.
    predictions: stated before measuring, for the first candidate, one per GPU. bar: the least gain that lands one.
    mechanisms: why it should be so, claim by claim; what kernels their tests ask for are the probe's controls.
    """

    question: str
    baseline: Kernel | Pipeline
    candidates: Sequence[Kernel | Pipeline]
    shapes: Sequence[Shape]
    claim: Claim | None = None
    share: Share | None = None
    predictions: Sequence[Prediction] = ()
    bar: float = BAR
    mechanisms: Sequence[Mechanism] = ()

    def __post_init__(self):
        object.__setattr__(self, "candidates", tuple(self.candidates))
        labels = [str(kernel) for kernel in self.kernels]
        if len(labels) < 2 or len(set(labels)) < len(labels):
            raise Refusal(f"a probe compares a baseline with at least one other kernel, each once: {', '.join(labels)}")
        if not 0 < self.bar < 0.5:
            raise Refusal(f"the bar is {self.bar}: it must lie between 0 and 0.5")
        if self.share and not 0 < self.share.fraction <= 1:
            raise Refusal(f"the share is {self.share.fraction}: it must lie between 0 and 1")
        for shape in self.shapes:
            self.baseline.contract.check_dimensions(shape.dims)
        for candidate in (*self.candidates, *self.controls):
            if candidate.contract != self.baseline.contract:
                raise Refusal(
                    f"{candidate} computes {candidate.contract.name}, the baseline {self.baseline.contract.name}"
                )

    @property
    def kernels(self) -> tuple[Kernel | Pipeline, ...]:
        return (self.baseline, *self.candidates)

    @property
    def controls(self) -> tuple[Kernel | Pipeline, ...]:
        """Kernels that are launched beside those compared, for the mechanisms' sake; no verdict is given on them."""
        asked = {str(kernel): kernel for mechanism in self.mechanisms for kernel in mechanism.kernels()}
        compared = {str(kernel) for kernel in self.kernels}
        return tuple(kernel for label, kernel in asked.items() if label not in compared)

    def statements(self) -> list[dict]:
        """The mechanisms as they go into a record."""
        return [mechanism.statement(self.baseline, self.candidates[0]) for mechanism in self.mechanisms]

    def main(self) -> None:
        """Run from the command line, as `python -m experiments.<name>`."""
        from playground.commands.run import run_module

        sys.exit(run_module(self))
