"""The builds of a probe's kernels: for which GPUs, for which of them all fit, and their ledgers for the record."""

from playground.compiler.arch import GPUS, Arch
from playground.compiler.build import Build, PipelineBuild, build
from playground.errors import Refusal
from playground.kernels import Kernel, Pipeline
from playground.probe import Probe
from playground.report.narrator import Narrator

REFERENCE_GPUS = ("H200", "GB10")


def _archs(device) -> dict[str, Arch]:
    """The GPU at hand, and the reference GPUs of other architectures."""
    at_hand = {device.name: device.arch} if device else {}
    known = {arch.cc for arch in at_hand.values()}
    return at_hand | {gpu: GPUS[gpu].arch for gpu in REFERENCE_GPUS if GPUS[gpu].arch.cc not in known}


def build_all(probe: Probe, device, narrator: Narrator) -> dict[str, dict[str, Build | Refusal]]:
    """Per kernel and GPU: its build, or why there is none. A variant that the GPU at hand cannot hold is refused."""
    archs, kernels = _archs(device), (*probe.kernels, *probe.controls)
    built: dict[str, dict[str, Build | Refusal]] = {str(kernel): {} for kernel in kernels}
    with narrator.progress("building", len(kernels) * len(archs)) as advance:
        for kernel in kernels:
            for gpu, arch in archs.items():
                try:
                    built[str(kernel)][gpu] = build(kernel, arch)
                except Refusal as refusal:
                    if device and gpu == device.name and kernel in probe.kernels:
                        raise
                    built[str(kernel)][gpu] = refusal
                advance()
    return built


def first_that_all_fit(probe: Probe, built: dict[str, dict[str, Build | Refusal]]) -> dict[str, Build]:
    """The builds for the first GPU that no variant is too large for: the one at hand, or whose PTX to emulate.

    A control that is too large for it is left out.
    """
    for gpu in next(iter(built.values())):
        builds = {label: per_gpu[gpu] for label, per_gpu in built.items() if not isinstance(per_gpu[gpu], Refusal)}
        if all(str(kernel) in builds for kernel in probe.kernels):
            return builds
    raise next(found for per_gpu in built.values() for found in per_gpu.values() if isinstance(found, Refusal))


def ledgers_of(kernel: Kernel | Pipeline, per_gpu: dict[str, Build | PipelineBuild | Refusal]) -> dict[str, dict]:
    """Per step and GPU: its ledger, or why there is none."""

    def ledger(found, position):
        return {"refused": str(found)} if isinstance(found, Refusal) else found.steps[position].ledger.as_record()

    return {
        str(step.kernel): {gpu: ledger(found, position) for gpu, found in per_gpu.items()}
        for position, step in enumerate(kernel.steps)
    }


def described(kernel: Kernel | Pipeline) -> dict:
    """What tells a kernel from others, as it goes into a record."""
    return {"label": str(kernel), "name": kernel.name, "parameters": kernel.described}


def variant(kernel: Kernel | Pipeline, ledgers: dict[str, dict]) -> dict:
    """A kernel with its ledgers, or a pipeline with the ledgers of every step."""
    steps = [
        {"label": str(step.kernel), "name": step.kernel.name, "ledgers": ledgers[str(step.kernel)]}
        for step in kernel.steps
    ]
    return described(kernel) | ({"ledgers": steps[0]["ledgers"]} if len(steps) == 1 else {"steps": steps})
