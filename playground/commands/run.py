"""`python -m playground run PROBE`, and `python -m experiments.<probe>`, which does the same."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import experiments
from playground.command import Parser, refusing, seed
from playground.errors import Refusal
from playground.kernels.contract import Contract
from playground.probe import Probe
from playground.recording import add_record_options, run_recorded
from playground.shapes import Shape


def add_run(commands) -> None:
    """The sub-command `run`."""
    running = commands.add_parser("run", help="run a probe")
    running.add_argument("probe")
    add_run_options(running)
    running.set_defaults(run=lambda options: run_probe(options.probe, experiments.load(options.probe), options))


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """The options of a run, the same for a module and for `python -m playground run`."""
    add_record_options(parser)
    parser.add_argument("--quick", action="store_true", help="a quarter of the rounds")
    parser.add_argument(
        "--shape", action="append", metavar="AxBxC", help="dimensions, instead of the probe's; repeatable"
    )
    parser.add_argument("--wall", action="store_true", help="time the whole prefill of the 7B with each kernel too")
    parser.add_argument("--seed", type=seed, help="of the inputs, to repeat a run (default: fresh)")


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
        wall = prefills.on(device, probe.kernels) if prefills else None
        return walk(name, probe, Options(device, rounds, shapes or None, options.seed, wall), Narrator(out))

    return run_recorded(name, options, make, gates_held)


def parse_shape(text: str, contract: Contract) -> Shape:
    """`2048x3584x3584` as the contract's dimensions, in order."""
    lengths = text.lower().replace("×", "x").split("x")
    if len(lengths) != len(contract.dimensions) or not all(length.isdecimal() for length in lengths):
        example = "x".join(str(length) for length in contract.emulated[-1].values())
        raise Refusal(f"--shape {text!r}: not whole numbers for {'×'.join(contract.dimensions)}, such as {example}")
    shape = Shape(dict(zip(contract.dimensions, map(int, lengths))))
    contract.check_dimensions(shape.dims)
    return shape
