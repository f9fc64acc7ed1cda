"""`python -m playground bound PASS` and `wall [PROBE ...]`: what the whole prefill would gain, and what it gains."""

import argparse
import math

import experiments
from playground.commands.run import add_run_options, run_probe
from playground.errors import Refusal
from playground.measure.verdict import BAR
from playground.recording import add_results, choose_device
from playground.report import budget, prefill


def add_bound(commands) -> None:
    """The sub-command `bound`."""
    bound = commands.add_parser("bound", help="what a faster pass would gain on the wall, before it is written")
    bound.add_argument("passes", metavar="pass", help="a role (gate, convert, rope, …) or a kind (gemm, attention, …)")
    bound.add_argument("--speedup", type=speedup, required=True, metavar="X", help="how many times as fast")
    bound.add_argument("--configuration", metavar="NAME", help="of which the budget is (default: the latest rung)")
    add_results(bound)
    bound.set_defaults(run=show_bound)


def add_wall(commands) -> None:
    """The sub-command `wall`."""
    wall = commands.add_parser("wall", help="run probes with --wall, all on one set of weights")
    wall.add_argument("probes", nargs="*", metavar="probe", help="default: all whose kernels the prefill has")
    add_run_options(wall)
    wall.set_defaults(run=run_walls)


def run_walls(options: argparse.Namespace) -> int:
    """Run every probe on the kernels and on the wall; the worst of their exit statuses."""
    from playground.prefill.swap import Prefills, fits

    chosen = {name: experiments.load(name) for name in options.probes or experiments.names()}
    if not options.probes:
        chosen = {name: probe for name, probe in chosen.items() if fits(probe.kernels)}
    if options.on == "auto" and not options.plot_only:
        choose_device("gpu")  # without one there is no wall, and `run` does the rest
    prefills = Prefills(options.quick)
    return max(run_probe(name, probe, options, prefills) for name, probe in chosen.items())


def show_bound(options: argparse.Namespace) -> int:
    """Print the bound from the latest budget of every GPU."""
    for record in budget.latest(options.out):
        known = budget.measured(record)
        name = options.configuration or known[-1]
        if name not in known:
            raise Refusal(f"no configuration {name!r}: there are {', '.join(known)}")
        print(*prefill.bound(record, name, options.passes, options.speedup, BAR), sep="\n")
    return 0


def speedup(text: str) -> float:
    """A factor from the command line, more than 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"--speedup {text}: not a number above 0")
    return value
