"""Making a record from the command line: where it runs, where it is kept, and what is drawn of it."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from playground.command import GATE_FAILED
from playground.errors import Refusal


def add_results(parser: argparse.ArgumentParser) -> None:
    """The option for the folder of the records."""
    parser.add_argument("--out", type=Path, default=Path("results"), metavar="DIR", help="default: results")


def add_record_options(parser: argparse.ArgumentParser) -> None:
    """The options of everything that ends in a record and its picture."""
    add_output_options(parser)
    parser.add_argument("--plot-only", action="store_true", help="redraw the picture from the latest record")


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """The options of everything that ends in a record: where it runs, and what becomes of the record."""
    parser.add_argument("--on", choices=("auto", "gpu", "emulator"), default="auto", help="auto: the GPU if any")
    add_results(parser)
    parser.add_argument("--json", action="store_true", help="print the record, and nothing else, on standard output")


def run_recorded(name: str, options: argparse.Namespace, make: Callable, held: Callable[[dict], bool]) -> int:
    """Make a record, keep it, and draw it if its kind is drawn, as the options say; the exit status.

    held: whether the record's gates did.
    """
    from playground.report import plots

    if options.plot_only:
        if options.json:
            raise Refusal("--json prints a record, and --plot-only makes none")
        for picture in plots.redraw(options.out, name):
            print(picture)
        return 0
    result, path, out = make_record(name, options, make)
    if plots.has_picture(result):
        out.print(f"picture  {plots.draw(result, path.with_suffix('.png'))}")
    return 0 if held(result) else GATE_FAILED


def make_record(name: str, options: argparse.Namespace, make: Callable) -> tuple:
    """Make a record and keep it, as the options say: the record, its path, and the console that tells of it.

    make: `make(device, console)`, device None without a GPU, returns the record.
    """
    from playground.report import narrator, record

    device = choose_device(options.on)
    path = options.out / (device.slug if device else "emulator") / f"{name}.jsonl"
    record.prepare(path)
    out = narrator.console(quiet=options.json)
    result = make(device, out)
    if options.json:
        sys.stdout.write(record.dumps(result) + "\n")
    record.append(path, result)
    out.print(f"\nrecord   {path}")
    return result, path, out


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
