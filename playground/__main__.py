"""`python -m playground <command>`: the tools around the probes."""

import argparse
import sys
from pathlib import Path

import experiments
from experiments import _ladder, pitfalls
from playground import agreement, sanitizer
from playground.command import GATE_FAILED, Parser, add_run_options, choose_device, refusing, run_probe
from playground.errors import Refusal
from playground.floors_command import add_floors
from playground.kernel_commands import add_check, add_ledger
from playground.kernels import KERNELS, Kernel
from playground.prefill_commands import add_bound, add_wall
from playground.report import catalogue, marks, plots, predictions, record
from playground.report.narrator import console


@refusing
def main(arguments: list[str]) -> int:
    parser = Parser(prog="python -m playground", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command", parser_class=Parser)

    listing = commands.add_parser("list", help="the probes, with claim and latest verdict per GPU")
    add_results(listing)
    shown = listing.add_mutually_exclusive_group()
    shown.add_argument("--markdown", action="store_true", help="as a Markdown table, as in the README")
    shown.add_argument("--predictions", action="store_true", help="predicted against measured, as in the README")
    shown.add_argument("--mechanisms", action="store_true", help="all claims of why, with their marks, as Markdown")
    listing.set_defaults(run=list_probes)

    running = commands.add_parser("run", help="run a probe")
    running.add_argument("probe")
    add_run_options(running)
    running.set_defaults(run=lambda options: run_probe(options.probe, experiments.load(options.probe), options))

    plotting = commands.add_parser("plots", help="redraw every picture from the records alone")
    plotting.add_argument("probe", nargs="?")
    add_results(plotting)
    plotting.set_defaults(run=redraw)

    climbing = commands.add_parser("ladder", help="one picture of the attention ladder, from its probes' records")
    add_results(climbing)
    climbing.set_defaults(run=draw_ladder)

    add_bound(commands)
    add_wall(commands)
    add_ledger(commands)
    add_check(commands)
    add_floors(commands)

    agreeing = commands.add_parser("agree", help="the emulator against the GPU at hand and Nsight Compute")
    add_results(agreeing)
    agreeing.add_argument("--launch-only", action="store_true", help="launch the kernels and no more (for ncu)")
    agreeing.set_defaults(run=agree)

    sanitizing = commands.add_parser("sanitize", help="compute-sanitizer over every kernel on the GPU at hand")
    add_results(sanitizing)
    sanitizing.add_argument("--launch-only", action="store_true", help="launch the kernels and no more")
    sanitizing.add_argument("--kernel", metavar="LABEL", help="this one only (with --launch-only)")
    sanitizing.set_defaults(run=sanitize)
    options = parser.parse_args(arguments)
    return options.run(options)


def add_results(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, default=Path("results"), metavar="DIR", help="default: results")


def list_probes(options: argparse.Namespace) -> int:
    if options.predictions:
        print(predictions.as_markdown(predictions.rows(options.out, experiments.names())))
        return 0
    if options.mechanisms:
        print(marks.as_markdown(marks.rows(options.out, experiments.statements())))
        return 0
    found = catalogue.rows(options.out, experiments.claims())
    if options.markdown:
        print(catalogue.as_markdown(found))
    else:
        console().print(catalogue.as_table(found))
    return 0


def redraw(options: argparse.Namespace) -> int:
    pictures = plots.redraw(options.out, options.probe)
    print(*pictures, *(plots.redraw_ladders(options.out, _ladder.RUNGS) if options.probe is None else ()), sep="\n")
    return 0


def draw_ladder(options: argparse.Namespace) -> int:
    pictures = plots.redraw_ladders(options.out, _ladder.RUNGS)
    if not pictures:
        probes = ", ".join(rung.probe for rung in _ladder.RUNGS if rung.probe)
        raise Refusal(f"no record of {probes} in {options.out}: nothing to draw")
    print(*pictures, sep="\n")
    return 0


def agree(options: argparse.Namespace) -> int:
    kernels = experiments.kernels()
    device = choose_device("gpu")
    if options.launch_only:
        agreement.launch_all(device, kernels)
        return 0
    path = options.out / device.slug / "emulator_agreement.jsonl"
    record.prepare(path)
    found = agreement.compare(device, kernels)
    record.append(path, found)
    agreement.write_table(found, path.with_suffix(".md"))
    print(f"{agreement.as_markdown(found)}\n\nrecord   {path}\ntable    {path.with_suffix('.md')}")
    return 0 if agreement.within_bounds(found) else GATE_FAILED


def sanitize(options: argparse.Namespace) -> int:
    kernels, wrong = every_kernel(), pitfalls.hazardous_kernels()
    named = [kernel for kernel in (*kernels, *wrong) if str(kernel) == options.kernel]
    if options.kernel is not None and not named:
        raise Refusal(f"no kernel is called {options.kernel!r}, such as {kernels[0]}")
    if options.launch_only:
        sanitizer.launch_all(choose_device("gpu"), kernels if options.kernel is None else named)
        return 0
    if options.kernel is not None:
        raise Refusal("--kernel goes with --launch-only: all kernels are sanitized")
    tool = sanitizer.find()
    device = choose_device("gpu")
    path = options.out / device.slug / "sanitizer.jsonl"
    record.prepare(path)
    found = sanitizer.sanitize(tool, device, kernels, wrong)
    record.append(path, found)
    sanitizer.write_table(found, path.with_suffix(".md"))
    print(f"{sanitizer.as_markdown(found)}\n\nrecord   {path}\ntable    {path.with_suffix('.md')}")
    return 0 if sanitizer.clean(found) and sanitizer.sees(found) else GATE_FAILED


def every_kernel() -> list[Kernel]:
    """Those of the probes, and each factory's with its own parameters."""
    defaults = [factory() for factory in KERNELS.values()]
    return list({str(kernel): kernel for kernel in (*experiments.kernels(), *defaults)}.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
