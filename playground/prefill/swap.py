"""A probe's kernels swapped into the prefill: what its change does to the wall, measured instead of inferred."""

from collections.abc import Callable, Sequence

from playground.kernels import Kernel
from playground.kernels.pipeline import Pipeline
from playground.prefill.configuration import CONFIGURATIONS, Configuration
from playground.prefill.wall import Wall
from playground.shapes import QWEN25_7B

ROUNDS, QUICK_ROUNDS = 8, 6
LATEST = CONFIGURATIONS[-1]


class Prefills:
    """Whole prefills of the 7B for one probe or many: the weights are made once, for the first of them on a GPU."""

    def __init__(self, quick: bool = False):
        self.rounds, self.wall = QUICK_ROUNDS if quick else ROUNDS, None

    def on(
        self, device, kernels: Sequence[Kernel | Pipeline]
    ) -> Callable[[Sequence[Kernel | Pipeline], Callable], dict] | None:
        """What a walk measures the wall by; None without a GPU. kernels: a probe's; those of no pass are refused."""
        swapped(kernels)
        if device is None:
            return None
        self.wall = self.wall or Wall(device, QWEN25_7B)
        return self.measure

    def measure(self, kernels: Sequence[Kernel | Pipeline], progress: Callable) -> dict:
        """Prefills with each of the kernels, the baseline first and again, as they go into a probe's record."""
        baseline, *_ = kernels
        found = self.wall.measure(swapped(kernels), str(baseline), self.rounds, progress)
        return {"stage": stage(baseline).name, "pass": ", ".join(passes(baseline))} | found


def passes(kernel: Kernel | Pipeline) -> dict[str, Kernel]:
    """Kind of pass -> the kernel that goes there: one, or those of a pipeline's steps."""
    return {LATEST.kind_of(step.kernel): step.kernel for step in kernel.steps}


def stage(kernel: Kernel | Pipeline) -> Configuration:
    """Where in the campaign a probe with this baseline stands: the latest rung that uses it.

    If none does, the latest of all with it swapped in. A kernel that is no pass of the prefill is refused.
    """
    wanted = {kind: str(one) for kind, one in passes(kernel).items()}
    with_it = [
        rung
        for rung in CONFIGURATIONS
        if wanted.items() <= {kind: str(one) for kind, one in rung.kernels.items()}.items()
    ]
    return with_it[-1] if with_it else LATEST.replace(**passes(kernel))


def swapped(kernels: Sequence[Kernel | Pipeline]) -> dict[str, Configuration]:
    """Label -> the baseline's stage with that kernel in its place, the baseline first."""
    rung = stage(kernels[0])
    return {str(kernel): rung.replace(**passes(kernel)) for kernel in kernels}


def fits(kernels: Sequence[Kernel | Pipeline]) -> bool:
    """Whether all are passes of the prefill."""
    known = LATEST.contracts.values()
    return all(step.kernel.contract.name in known for kernel in kernels for step in kernel.steps)
