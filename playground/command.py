"""The command lines: `python -m experiments.<probe>` and `python -m playground <command>`."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from playground.errors import Refusal
from playground.kernels.contract import Contract
from playground.probe import Probe
from playground.shapes import Shape

CANNOT_RUN = 2
GATE_FAILED = 1


class Parser(argparse.ArgumentParser):
    """argparse whose errors are Refusals, so that they are one line like all others."""

    def error(self, message):
        raise Refusal(message)


def refusing(main):
    """Decorator: turns a Refusal into its one line on standard error and exit status 2."""

    def guarded(*arguments):
        try:
            return main(*arguments)
        except Refusal as refusal:
            program = Path(sys.argv[0])
            name = program.parent.name if program.stem == "__main__" else program.stem
            print(f"{name}: {refusal}", file=sys.stderr)
            return CANNOT_RUN

    return guarded


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """The options of a run, the same for a module and for `python -m playground run`."""
    add_record_options(parser)
    parser.add_argument("--quick", action="store_true", help="a quarter of the rounds")
    parser.add_argument(
        "--shape", action="append", metavar="NTxODxID", help="instead of the probe's shapes; repeatable"
    )
    parser.add_argument("--seed", type=int, help="of the inputs, to repeat a run (default: fresh)")


def add_record_options(parser: argparse.ArgumentParser) -> None:
    """The options of everything that ends in a record: where it runs, and what becomes of the record."""
    parser.add_argument("--on", choices=("auto", "gpu", "emulator"), default="auto", help="auto: the GPU if any")
    parser.add_argument("--out", type=Path, default=Path("results"), metavar="DIR", help="default: results")
    parser.add_argument("--json", action="store_true", help="print the record, and nothing else, on standard output")
    parser.add_argument("--plot-only", action="store_true", help="redraw the picture from the latest record")


@refusing
def run_module(probe: Probe, arguments: Sequence[str] | None = None) -> int:
    """The command line of an experiment module."""
    module = sys.modules["__main__"]
    name = Path(module.__file__).stem
    parser = Parser(prog=f"python -m experiments.{name}", description=module.__doc__)
    add_run_options(parser)
    return run_probe(name, probe, parser.parse_args(arguments))


def run_probe(name: str, probe: Probe, options: argparse.Namespace) -> int:
    """Run a probe as the options say; the exit status."""
    from playground.report.narrator import Narrator
    from playground.walk import QUICK_ROUNDS, ROUNDS, Options, gates_held, walk

    shapes = [parse_shape(text, probe.baseline.contract) for text in options.shape or ()]
    rounds = QUICK_ROUNDS if options.quick else ROUNDS

    def make(device, out):
        return walk(name, probe, Options(device, rounds, shapes or None, options.seed), Narrator(out))

    return run_recorded(name, options, make, gates_held)


def run_recorded(name: str, options: argparse.Namespace, make: Callable, held: Callable[[dict], bool]) -> int:
    """Make a record, keep it and draw it, as the options say; the exit status.

    make: `make(device, console)`, device None without a GPU, returns the record. held: whether its gates did.
    """
    from playground.report import narrator, plots, record

    if options.plot_only:
        for picture in plots.redraw(options.out, name):
            print(picture)
        return 0
    device = choose_device(options.on)
    path = options.out / (device.slug if device else "emulator") / f"{name}.jsonl"
    record.prepare(path)
    out = narrator.console(quiet=options.json)
    result = make(device, out)
    record.append(path, result)
    picture = plots.draw(result, path.with_suffix(".png"))
    if options.json:
        print(record.dumps(result))
    out.print(f"\nrecord   {path}\npicture  {picture}")
    return 0 if held(result) else GATE_FAILED


def choose_device(on: str):
    """The GPU, or None if there is none (auto) or none is wanted (emulator); `gpu` insists."""
    if on == "emulator":
        return None
    from playground.gpu.device import open_device

    try:
        return open_device()
    except Refusal:
        if on == "gpu":
            raise
        return None


def parse_shape(text: str, contract: Contract) -> Shape:
    """`2048x3584x3584` as the contract's dimensions, in order."""
    lengths = text.lower().replace("×", "x").split("x")
    if len(lengths) != len(contract.dimensions) or not all(length.isdecimal() for length in lengths):
        raise Refusal(f"--shape {text!r}: not {'x'.join(contract.dimensions)} as whole numbers")
    shape = Shape(dict(zip(contract.dimensions, map(int, lengths))))
    contract.check_dimensions(shape.dims)
    return shape
