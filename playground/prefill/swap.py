"""A probe's kernels swapped into the prefill: what its change does to the wall, measured instead of inferred."""

from collections.abc import Callable, Sequence

from playground.kernels import Kernel
from playground.prefill.configuration import CONFIGURATIONS, Configuration
from playground.prefill.wall import Wall
from playground.probe import Probe
from playground.shapes import QWEN25_7B

ROUNDS, QUICK_ROUNDS = 16, 6


class Prefills:
    """Whole prefills of the 7B for one probe or many: the weights are made once, for the first of them on a GPU."""

    def __init__(self, quick: bool = False):
        self.rounds, self.wall = QUICK_ROUNDS if quick else ROUNDS, None

    def on(self, device, probe: Probe) -> Callable[[Sequence[Kernel], Callable], dict] | None:
        """What a walk measures the wall by; None without a GPU. A probe of no pass of the prefill is refused."""
        stage(probe.baseline)
        if device is None:
            return None
        self.wall = self.wall or Wall(device, QWEN25_7B)
        return self.measure

    def measure(self, kernels: Sequence[Kernel], progress: Callable) -> dict:
        """Prefills with each of the kernels, the baseline first and again, as they go into a probe's record."""
        baseline, *_ = kernels
        found = self.wall.measure(swapped(kernels), str(baseline), self.rounds, progress)
        return {"stage": stage(baseline).name, "pass": CONFIGURATIONS[-1].kind_of(baseline)} | found


def stage(kernel: Kernel) -> Configuration:
    """Where in the campaign a probe with this baseline stands: the latest rung that uses it.

    If none does, the latest of all with it swapped in. A kernel that is no pass of the prefill is refused.
    """
    kind = CONFIGURATIONS[-1].kind_of(kernel)
    with_it = [rung for rung in CONFIGURATIONS if str(rung.kernels[kind]) == str(kernel)]
    return with_it[-1] if with_it else CONFIGURATIONS[-1].replace(**{kind: kernel})


def swapped(kernels: Sequence[Kernel]) -> dict[str, Configuration]:
    """Label -> the baseline's stage with that kernel in its place, the baseline first."""
    baseline, *_ = kernels
    rung, kind = stage(baseline), CONFIGURATIONS[-1].kind_of(baseline)
    return {str(kernel): rung.replace(**{kind: kernel}) for kernel in kernels}


def fits(probe: Probe) -> bool:
    """Whether its kernels are a pass of the prefill."""
    contracts = {kernel.contract.name for kernel in CONFIGURATIONS[-1].kernels.values()}
    return probe.baseline.contract.name in contracts
