"""`python -m playground <command>`: the tools around the probes."""

import argparse
import inspect
import sys
from collections.abc import Callable
from pathlib import Path

import experiments
from playground.command import Parser, add_run_options, refusing, run_probe
from playground.compiler.arch import arch_named
from playground.compiler.build import build
from playground.errors import Refusal
from playground.kernels import KERNELS, Kernel
from playground.report import plots
from playground.report.catalogue import catalogue
from playground.report.narrator import console, ledger_table, table


@refusing
def main(arguments: list[str]) -> int:
    parser = Parser(prog="python -m playground", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command", parser_class=Parser)

    listing = commands.add_parser("list", help="the probes, with claim and latest verdict per GPU")
    add_results(listing)
    listing.set_defaults(run=list_probes)

    running = commands.add_parser("run", help="run a probe")
    running.add_argument("probe")
    add_run_options(running)
    running.set_defaults(run=lambda options: run_probe(options.probe, experiments.load(options.probe), options))

    plotting = commands.add_parser("plots", help="redraw every picture from the records alone")
    plotting.add_argument("probe", nargs="?")
    add_results(plotting)
    plotting.set_defaults(run=redraw)

    ledger = commands.add_parser("ledger", help="registers, shared memory and blocks per SM of a kernel")
    kernels = ledger.add_subparsers(required=True, metavar="kernel", parser_class=Parser)
    for name, factory in KERNELS.items():
        add_kernel_parser(kernels, name, factory)

    options = parser.parse_args(arguments)
    return options.run(options)


def add_results(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, default=Path("results"), metavar="DIR", help="default: results")


def add_kernel_parser(kernels, name: str, factory: Callable[..., Kernel]) -> None:
    """A sub-command whose options are the factory's parameters: --TM 128 --KS 64."""
    parser = kernels.add_parser(name, help=factory.__doc__.splitlines()[0])
    parameters = inspect.signature(factory).parameters
    for parameter in parameters:
        parser.add_argument(f"--{parameter}", type=int, default=argparse.SUPPRESS, metavar="N")
    parser.add_argument("--arch", default="GB10,H200", help="architectures or GPUs, separated by commas")
    parser.add_argument("--mix", action="store_true", help="the instruction mix of the machine code too")
    parser.set_defaults(
        run=lambda options: show_ledger(factory(**{k: v for k, v in vars(options).items() if k in parameters}), options)
    )


def list_probes(options: argparse.Namespace) -> int:
    console().print(catalogue(options.out))
    return 0


def redraw(options: argparse.Namespace) -> int:
    for picture in plots.redraw(options.out, options.probe):
        print(picture)
    return 0


def show_ledger(kernel: Kernel, options: argparse.Namespace) -> int:
    out = console()
    ledgers = {gpu: build(kernel, arch_named(gpu)).ledger.as_record() for gpu in options.arch.split(",")}
    out.print(ledger_table({str(kernel): ledgers}))
    if options.mix:
        for gpu, ledger in ledgers.items():
            if ledger["instruction_mix"] is None:
                raise Refusal("no instruction mix: nvdisasm was not found (pip install nvidia-cuda-nvdisasm)")
            rows = table(f"{gpu} instruction", "count")
            for opcode, count in ledger["instruction_mix"].items():
                rows.add_row(opcode, str(count))
            out.print(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
