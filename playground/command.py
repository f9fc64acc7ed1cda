"""The command lines: `python -m experiments.<probe>` and `python -m playground <command>`."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from playground.errors import Refusal
from playground.kernels.contract import Contract
from playground.probe import Probe
from playground.shapes import Shape

GATE_FAILED = 1
CANNOT_RUN = 2
INTERRUPTED = 130


class Parser(argparse.ArgumentParser):
    """argparse whose errors are Refusals, so that they are one line like all others."""

    def __init__(self, **options):
        super().__init__(allow_abbrev=False, **options)

    def error(self, message):
        raise Refusal(message)


def refusing(main):
    """Decorator: what stops a command is one line on standard error, and an exit status other than 0."""

    def guarded(*arguments):
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.reconfigure(errors="replace")  # the locale may lack × and §
        try:
            status = main(*arguments)
            if sys.stdout is not None:
                sys.stdout.flush()
            return status
        except Refusal as refusal:
            return _stopped(str(refusal), CANNOT_RUN)
        except MemoryError as error:
            return _stopped(f"not enough memory: {error}", CANNOT_RUN)
        except BrokenPipeError:
            _discard_output()
            return 0
        except OSError as error:
            _discard_output()
            return _stopped(f"cannot write the output: {error.strerror}", CANNOT_RUN)
        except KeyboardInterrupt:
            return _stopped("interrupted: this run leaves no record", INTERRUPTED)

    return guarded


def _stopped(why: str, status: int) -> int:
    program = Path(sys.argv[0])
    name = program.parent.name if program.stem == "__main__" else program.stem
    print(f"{name}: {why}", file=sys.stderr)
    return status


def _discard_output() -> None:
    """Nobody reads standard output any more: what Python still holds of it must not fail at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """The options of a run, the same for a module and for `python -m playground run`."""
    add_record_options(parser)
    parser.add_argument("--quick", action="store_true", help="a quarter of the rounds")
    parser.add_argument(
        "--shape", action="append", metavar="AxBxC", help="dimensions, instead of the probe's; repeatable"
    )
    parser.add_argument("--wall", action="store_true", help="time the whole prefill of the 7B with each kernel too")
    parser.add_argument("--seed", type=seed, help="of the inputs, to repeat a run (default: fresh)")


def seed(text: str) -> int:
    """A seed from the command line."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
    return int(text)


def add_record_options(parser: argparse.ArgumentParser) -> None:
    """The options of everything that ends in a record and its picture."""
    add_output_options(parser)
    parser.add_argument("--plot-only", action="store_true", help="redraw the picture from the latest record")


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """The options of everything that ends in a record: where it runs, and what becomes of the record."""
    parser.add_argument("--on", choices=("auto", "gpu", "emulator"), default="auto", help="auto: the GPU if any")
    parser.add_argument("--out", type=Path, default=Path("results"), metavar="DIR", help="default: results")
    parser.add_argument("--json", action="store_true", help="print the record, and nothing else, on standard output")


@refusing
def run_module(probe: Probe, arguments: Sequence[str] | None = None) -> int:
    """The command line of an experiment module."""
    module = sys.modules["__main__"]
    name = Path(module.__file__).stem
    parser = Parser(prog=f"python -m experiments.{name}", description=module.__doc__)
    add_run_options(parser)
    return run_probe(name, probe, parser.parse_args(arguments))


def run_probe(name: str, probe: Probe, options: argparse.Namespace, prefills=None) -> int:
    """Run a probe as the options say; the exit status. prefills: what several probes share (see prefill/swap.py)."""
    from playground.report.narrator import Narrator
    from playground.walk import QUICK_ROUNDS, ROUNDS, Options, gates_held, walk

    shapes = [parse_shape(text, probe.baseline.contract) for text in options.shape or ()]
    rounds = QUICK_ROUNDS if options.quick else ROUNDS
    if options.wall and prefills is None:
        from playground.prefill.swap import Prefills  # late: it builds every configuration's kernels, as objects

        prefills = Prefills(options.quick)

    def make(device, out):
        wall = prefills.on(device, probe) if prefills else None
        return walk(name, probe, Options(device, rounds, shapes or None, options.seed, wall), Narrator(out))

    return run_recorded(name, options, make, gates_held)


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


def parse_shape(text: str, contract: Contract) -> Shape:
    """`2048x3584x3584` as the contract's dimensions, in order."""
    lengths = text.lower().replace("×", "x").split("x")
    if len(lengths) != len(contract.dimensions) or not all(length.isdecimal() for length in lengths):
        example = "x".join(str(length) for length in contract.emulated[-1].values())
        raise Refusal(f"--shape {text!r}: not whole numbers for {'×'.join(contract.dimensions)}, such as {example}")
    shape = Shape(dict(zip(contract.dimensions, map(int, lengths))))
    contract.check_dimensions(shape.dims)
    return shape
