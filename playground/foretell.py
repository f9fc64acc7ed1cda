"""What is known of a probe before it is timed: the floors of its kernels on every GPU of the table, and the verdicts
that they predict."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from playground.compiler.build import Build, PipelineBuild
from playground.floors.predict import floors_of, predicted
from playground.measure.inputs import random_inputs
from playground.probe import Probe
from playground.report.known_rates import known_rates
from playground.shapes import Shape

SEED = 0
"""Of the inputs whose run is counted: the counts do not depend on them."""


def foretell(
    probe: Probe,
    builds: Mapping[str, Build | PipelineBuild],
    shapes: Sequence[Shape] | None = None,
    gpus: Iterable[str] | None = None,
    advance: Callable[[], None] = lambda: None,
) -> dict:
    """The parts "floors", "predicted" and "floor_rates" (where each GPU's rates are from) of a probe's record.

    builds: by label, those whose PTX is counted. shapes, gpus: other than the probe's own, than all of the table.
    advance: called after each of the probe's kernels.
    """
    rates = known_rates()
    rates = {gpu: rates[gpu] for gpu in (rates if gpus is None else gpus)}
    compared = {str(kernel): builds[str(kernel)] for kernel in probe.kernels}
    floors = floors_of(compared, shapes or probe.shapes, _inputs, rates, advance)
    return {
        "floors": floors,
        "predicted": predicted(floors, compared, probe.bar),
        "floor_rates": {gpu: own.source for gpu, own in rates.items()},
    }


def _inputs(contract, dims):
    return random_inputs(contract, dims, SEED)
