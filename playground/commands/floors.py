"""`python -m playground floors PROBE`: what a probe's kernels cannot be faster than, on any GPU, without running it."""

import argparse

import experiments
from playground.compiler.arch import GPUS
from playground.compiler.build import Build, PipelineBuild, build
from playground.errors import Refusal
from playground.foretell import foretell
from playground.kernels import Kernel, Pipeline
from playground.report.floors import floors_table
from playground.report.narrator import Narrator, console
from playground.walk.builds import REFERENCE_GPUS, described


def add_floors(commands) -> None:
    """The sub-command `floors`."""
    parser = commands.add_parser("floors", help="the floors of a probe's kernels, and the verdicts that they predict")
    parser.add_argument("probe")
    parser.add_argument("--gpu", help=f"this one only: {', '.join(GPUS)}")
    parser.set_defaults(run=show_floors)


def show_floors(options: argparse.Namespace) -> int:
    """Print the floors of the probe's kernels on all GPUs, or on the one."""
    probe, out = experiments.load(options.probe), console()
    if options.gpu is not None and options.gpu.lower() not in map(str.lower, GPUS):
        raise Refusal(f"unknown GPU {options.gpu!r}: {', '.join(GPUS)} are known")
    gpus = [gpu for gpu in GPUS if options.gpu is None or gpu.lower() == options.gpu.lower()]
    with Narrator(out).progress("floors", len(probe.kernels)) as advance:
        told = foretell(probe, _builds(probe.kernels), gpus=gpus, advance=advance)
    out.print(floors_table({"variants": [described(kernel) for kernel in probe.kernels], **told}))
    return 0


def _builds(kernels: tuple[Kernel | Pipeline, ...]) -> dict[str, Build | PipelineBuild]:
    """Those whose PTX is counted: for the first reference GPU that holds every kernel."""
    for gpu in REFERENCE_GPUS:
        try:
            return {str(kernel): build(kernel, GPUS[gpu].arch) for kernel in kernels}
        except Refusal as refusal:
            why = refusal
    raise why
