"""`python -m playground agree` and `sanitize`: the emulator's word against the GPU's and that of NVIDIA's own tools."""

import argparse
from collections.abc import Mapping
from types import ModuleType

import experiments
from experiments import pitfalls
from playground.command import GATE_FAILED
from playground.crosscheck import agreement, sanitizer
from playground.errors import Refusal
from playground.kernels import KERNELS, Kernel, Pipeline
from playground.recording import add_results, choose_device
from playground.report import record
from playground.report.narrator import Narrator, console


def add_agree(commands) -> None:
    """The sub-command `agree`."""
    agreeing = commands.add_parser("agree", help="the emulator against the GPU at hand and Nsight Compute")
    add_results(agreeing)
    agreeing.add_argument("--launch-only", action="store_true", help="launch the kernels and no more (for ncu)")
    agreeing.set_defaults(run=agree)


def add_sanitize(commands) -> None:
    """The sub-command `sanitize`."""
    sanitizing = commands.add_parser("sanitize", help="compute-sanitizer over every kernel on the GPU at hand")
    add_results(sanitizing)
    sanitizing.add_argument("--launch-only", action="store_true", help="launch the kernels and no more")
    sanitizing.add_argument("--kernel", metavar="LABEL", help="this one only (with --launch-only)")
    sanitizing.set_defaults(run=sanitize)


def agree(options: argparse.Namespace) -> int:
    """Compare outputs and counts of every probe's kernels; 1 if outputs differ by more than their bounds."""
    kernels, device = experiments.kernels(), choose_device("gpu")
    if options.launch_only:
        agreement.launch_all(device, kernels)
        return 0
    path = options.out / device.slug / "emulator_agreement.jsonl"
    record.prepare(path)
    with Narrator(console()).progress(f"{len(kernels)} kernels in the emulator, on the GPU and under ncu", None):
        found = agreement.compare(device, kernels)
    _keep(found, path, agreement)
    return 0 if agreement.within_bounds(found) else GATE_FAILED


def sanitize(options: argparse.Namespace) -> int:
    """Watch every kernel, right and wrong; 1 if a right one is not clean, or nothing is seen in the wrong ones."""
    kernels, wrong = every_kernel(), pitfalls.hazardous_kernels()
    named = [kernel for kernel in (*kernels, *wrong) if str(kernel) == options.kernel]
    if options.kernel is not None and not named:
        raise Refusal(f"no kernel is called {options.kernel!r}, such as {kernels[0]}")
    if options.launch_only:
        sanitizer.launch_all(choose_device("gpu"), kernels if options.kernel is None else named)
        return 0
    if options.kernel is not None:
        raise Refusal("--kernel goes with --launch-only: all kernels are sanitized")
    device = choose_device("gpu")
    tool = sanitizer.find()
    path = options.out / device.slug / "sanitizer.jsonl"
    record.prepare(path)
    with Narrator(console()).progress(f"{len(kernels) + len(wrong)} kernels under compute-sanitizer", None):
        found = sanitizer.sanitize(tool, device, kernels, wrong)
    _keep(found, path, sanitizer)
    return 0 if sanitizer.clean(found) and sanitizer.sees(found) else GATE_FAILED


def every_kernel() -> list[Kernel | Pipeline]:
    """Those of the probes, and each factory's with its own parameters."""
    defaults = [factory() for factory in KERNELS.values()]
    return list({str(kernel): kernel for kernel in (*experiments.kernels(), *defaults)}.values())


def _keep(found: Mapping, path, told_by: ModuleType) -> None:
    """Append the record, write its table beside it, and print both."""
    record.append(path, found)
    told_by.write_table(found, path.with_suffix(".md"))
    print(f"{told_by.as_markdown(found)}\n\nrecord   {path}\ntable    {path.with_suffix('.md')}")
