"""The floors of a probe's kernels on each GPU, and what they predict: the ratio baseline/candidate, its direction."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from playground.compiler.arch import GPUS, Arch
from playground.compiler.build import Build, PipelineBuild, build, check_limits
from playground.errors import Refusal
from playground.floors.extrapolate import Extrapolation, MakeInputs
from playground.floors.floor import Floor, floor, in_turn
from playground.floors.rates import Rates
from playground.kernels import Kernel, Step
from playground.shapes import Shape

FASTER, SLOWER, NO_DIFFERENCE = "faster", "slower", "no difference"


def direction(ratio: float, bar: float) -> str:
    """What a ratio baseline/candidate says of the candidate: a difference within the bar is none."""
    if ratio > 1 + bar:
        return FASTER
    return SLOWER if ratio < 1 - bar else NO_DIFFERENCE


def floors_of(
    builds: Mapping[str, Build | PipelineBuild],
    shapes: Sequence[Shape],
    inputs: MakeInputs,
    rates: Mapping[str, Rates],
    advance: Callable[[], None] = lambda: None,
) -> list[dict]:
    """Per shape: its dims and roles, and "gpus": GPU -> label -> a Floor's record, or why there is none ("refused").

    builds: by label, whose PTX is counted. rates: by GPU of the table. A kernel's blocks per SM come from its build for
    a GPU, which is made where the latencies that they matter to are known. A pipeline's floor is the sum of its steps'.
    advance: called after each kernel or pipeline.
    """
    found = [
        {"dims": dict(shape.dims), "roles": list(shape.roles), "gpus": {gpu: {} for gpu in rates}} for shape in shapes
    ]
    for label, counted in builds.items():
        steps = [_on_every_gpu(*pair, shapes, inputs, rates) for pair in zip(counted.steps, counted.kernel.steps)]
        for entry, *floors in zip(found, *steps):
            for gpu in rates:
                entry["gpus"][gpu][label] = _together([floor[gpu] for floor in floors])
        advance()
    return found


def predicted(floors: Sequence[Mapping], labels: Iterable[str], bar: float) -> dict[str, dict]:
    """Candidate -> GPU -> ratio of the layer's floors and direction. labels: the baseline's first.

    A GPU on which either has no floor is left out.
    """
    baseline, *candidates = labels
    gpus = floors[0]["gpus"] if floors else ()
    totals = {gpu: {label: layer_floor(floors, gpu, label) for label in (baseline, *candidates)} for gpu in gpus}
    ratios = {
        candidate: {
            gpu: own[baseline] / own[candidate] for gpu, own in totals.items() if own[baseline] and own[candidate]
        }
        for candidate in candidates
    }
    return {
        candidate: {gpu: {"ratio": ratio, "verdict": direction(ratio, bar)} for gpu, ratio in per_gpu.items()}
        for candidate, per_gpu in ratios.items()
    }


def layer_floor(floors: Sequence[Mapping], gpu: str, label: str) -> float | None:
    """Microseconds of all shapes, each as often as the layer has it; None where one has no floor."""
    own = [(len(entry["roles"]), entry["gpus"][gpu][label]) for entry in floors]
    return None if any("refused" in one for _, one in own) else sum(roles * one["us"] for roles, one in own)


def layer_limiter(floors: Sequence[Mapping], gpu: str, label: str) -> str:
    """The resource that sets the largest part of the layer's floor."""
    parts: dict[str, float] = {}
    for entry in floors:
        one = entry["gpus"][gpu][label]
        parts[one["limiter"]] = parts.get(one["limiter"], 0) + len(entry["roles"]) * one["us"]
    return max(parts, key=parts.get)


def _on_every_gpu(
    counted: Build, step: Step, shapes: Sequence[Shape], inputs: MakeInputs, rates: Mapping[str, Rates]
) -> list[dict[str, Floor | Refusal]]:
    """Per shape and GPU the floor of one step, or why there is none."""
    extrapolation, found = Extrapolation(counted, inputs), []
    blocks = {gpu: _blocks_per_sm(counted, GPUS[gpu].arch, own.latencies_known) for gpu, own in rates.items()}
    for shape in shapes:
        dims = step.dimensions(shape.dims)
        work = _work(extrapolation, dims)
        found.append({gpu: _floor(counted.kernel, dims, work, blocks[gpu], gpu, own) for gpu, own in rates.items()})
    return found


def _floor(kernel: Kernel, dims: Mapping[str, int], work, blocks_per_sm, gpu: str, rates: Rates) -> Floor | Refusal:
    """work and blocks_per_sm may be the reason why there is none."""
    refused = [one for one in (blocks_per_sm, work) if isinstance(one, Refusal)]
    return refused[0] if refused else floor(kernel, dims, work, blocks_per_sm, GPUS[gpu], rates)


def _together(steps: Sequence[Floor | Refusal]) -> dict:
    """The steps' floor as it goes into a record, or why the first that has none has none."""
    refused = [one for one in steps if isinstance(one, Refusal)]
    return {"refused": str(refused[0])} if refused else in_turn(steps).as_record()


def _blocks_per_sm(counted: Build, arch: Arch, needed: bool) -> int | Refusal | None:
    """From the ledger of a build for `arch`, if needed; or why there can be none."""
    try:
        check_limits(counted.kernel, arch)
        if not needed:
            return None
        blocks = (counted if arch == counted.arch else build(counted.kernel, arch)).ledger.blocks_per_sm
    except Refusal as refusal:
        return refusal
    return blocks or Refusal(f"{counted.kernel}: no block of it fits on a multiprocessor of {arch.name}")


def _work(extrapolation: Extrapolation, dims: Mapping[str, int]) -> dict[str, int] | Refusal:
    try:
        return extrapolation.work(dims)
    except Refusal as refusal:
        return refusal
