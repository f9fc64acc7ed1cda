"""`python -m playground ledger KERNEL` and `check KERNEL`: one kernel by itself, without a GPU."""

import argparse
import inspect
from collections.abc import Callable
from pathlib import Path

from playground.command import GATE_FAILED, Parser, seed
from playground.commands.run import parse_shape
from playground.compiler.arch import arch_named
from playground.compiler.build import build
from playground.errors import Refusal
from playground.kernels import KERNELS, Kernel
from playground.measure import parity
from playground.measure.inputs import fresh_seed, random_inputs
from playground.measure.references import REFERENCES
from playground.report.heatmap import heatmap, values_by_line
from playground.report.narrator import Narrator, console
from playground.report.tables import counts_table, ledger_table, table
from playground.shapes import Shape


def add_ledger(commands) -> None:
    """The sub-command `ledger`."""
    ledger = commands.add_parser("ledger", help="registers, shared memory and blocks per SM of a kernel")
    for parser in _kernel_parsers(ledger, show_ledger):
        parser.add_argument("--arch", default="GB10,H200", help="architectures or GPUs, separated by commas")
        parser.add_argument("--mix", action="store_true", help="the instruction mix of the machine code too")


def add_check(commands) -> None:
    """The sub-command `check`."""
    check = commands.add_parser("check", help="parity, hazards and counts of a kernel, in the emulator")
    for parser in _kernel_parsers(check, run_check):
        parser.add_argument("--arch", default="H200", help="the architecture or GPU whose PTX is run")
        parser.add_argument("--shape", action="append", help="dimensions, as 65x264x136; repeatable")
        parser.add_argument("--seed", type=seed, help="of the inputs (default: fresh)")
        parser.add_argument("--by-line", metavar="COUNT", help="this count per line of Python, of the last shape")
        parser.add_argument("--heatmap", type=Path, metavar="PNG", help="the same as a picture (with --by-line)")


def show_ledger(kernel: Kernel, options: argparse.Namespace) -> int:
    """Print the ledger of `kernel` on each architecture."""
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


def run_check(kernel: Kernel, options: argparse.Namespace) -> int:
    """Emulate `kernel` on each shape; 1 if parity fails or a hazard is found."""
    from playground.emulator.workspace import EmulatedWorkspace, require_small

    if options.heatmap and (options.heatmap.suffix != ".png" or not options.by_line):
        raise Refusal(f"--heatmap {options.heatmap}: it takes a name that ends in .png, and a count by --by-line")
    out, contract, label = console(), kernel.contract, str(kernel)
    voice = Narrator(out)
    shapes = [parse_shape(text, contract) for text in options.shape or ()] or [*map(Shape, contract.emulated)]
    for shape in shapes:
        require_small(contract, shape)
    built = build(kernel, arch_named(options.arch))
    held = True
    for shape in shapes:
        inputs = random_inputs(contract, shape.dims, fresh_seed() if options.seed is None else options.seed)
        workspace = EmulatedWorkspace(contract, inputs)
        report = workspace.report(built)
        outcome = workspace.outcome(report)
        gate = parity.check(outcome, REFERENCES[contract.name](inputs))
        voice.parity(shape, {label: gate})
        voice.hazards({label: outcome.hazards})
        held &= gate.passed and not outcome.hazards
    out.print(counts_table({"dims": shape.dims, "arch": built.arch.name, "counts": {label: outcome.counts}}))
    if options.by_line:
        show_by_line(report.counts, options)
    return 0 if held else GATE_FAILED


def show_by_line(counts, options: argparse.Namespace) -> None:
    """Print one count per Python line, the largest first; draw it over the source if a picture is wanted."""
    rows = table("line", options.by_line)
    values = values_by_line(counts, options.by_line)
    for (file, line), value in sorted(values.items(), key=lambda item: -item[1]):
        if value:
            rows.add_row(f"{Path(file).name}:{line}", f"{value:,}")
    console().print(rows)
    if options.heatmap:
        try:
            heatmap(counts, options.by_line).savefig(options.heatmap, dpi=130)
        except OSError as error:
            raise Refusal(f"cannot write the picture {options.heatmap}: {error.strerror}") from error
        print(options.heatmap)


def _kernel_parsers(parser: argparse.ArgumentParser, run: Callable[[Kernel, argparse.Namespace], int]):
    """A sub-command per kernel, whose options are the factory's parameters: --TM 128 --KS 64."""
    kernels = parser.add_subparsers(required=True, metavar="kernel", parser_class=Parser)
    for name, factory in KERNELS.items():
        made = kernels.add_parser(name, help=(factory.__doc__ or "").split("\n")[0].replace("%", "%%"))
        for parameter in inspect.signature(factory).parameters.values():
            kind = str if parameter.annotation is str else int
            made.add_argument(f"--{parameter.name}", type=kind, default=argparse.SUPPRESS, metavar=kind.__name__)
        made.set_defaults(run=lambda options, factory=factory: run(factory(**_chosen(factory, options)), options))
        yield made


def _chosen(factory: Callable[..., Kernel], options: argparse.Namespace) -> dict:
    return {name: value for name, value in vars(options).items() if name in inspect.signature(factory).parameters}
