"""`python -m playground list`, `plots` and `ladder`: tables and pictures of records, without running anything."""

import argparse

import experiments
from experiments import _ladder
from playground.errors import Refusal
from playground.recording import add_results
from playground.report import catalogue, marks, plots, predictions
from playground.report.narrator import console


def add_list(commands) -> None:
    """The sub-command `list`."""
    listing = commands.add_parser("list", help="the probes, with claim and latest verdict per GPU")
    add_results(listing)
    shown = listing.add_mutually_exclusive_group()
    shown.add_argument("--markdown", action="store_true", help="as a Markdown table, as in the README")
    shown.add_argument("--predictions", action="store_true", help="predicted against measured, as in the README")
    shown.add_argument("--mechanisms", action="store_true", help="all claims of why, with their marks, as Markdown")
    listing.set_defaults(run=list_probes)


def add_plots(commands) -> None:
    """The sub-command `plots`."""
    plotting = commands.add_parser("plots", help="redraw every picture from the records alone")
    plotting.add_argument("probe", nargs="?")
    add_results(plotting)
    plotting.set_defaults(run=redraw)


def add_ladder(commands) -> None:
    """The sub-command `ladder`."""
    climbing = commands.add_parser("ladder", help="one picture of the attention ladder, from its probes' records")
    add_results(climbing)
    climbing.set_defaults(run=draw_ladder)


def list_probes(options: argparse.Namespace) -> int:
    """Print one of the README's tables."""
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
    """Redraw the pictures of one probe, or all of them, and print their paths."""
    pictures = plots.redraw(options.out, options.probe)
    print(*pictures, *(plots.redraw_ladders(options.out, _ladder.RUNGS) if options.probe is None else ()), sep="\n")
    return 0


def draw_ladder(options: argparse.Namespace) -> int:
    """Draw the attention ladder of every GPU that has records of it, and print the paths."""
    pictures = plots.redraw_ladders(options.out, _ladder.RUNGS)
    if not pictures:
        probes = ", ".join(rung.probe for rung in _ladder.RUNGS if rung.probe)
        raise Refusal(f"no record of {probes} in {options.out}: nothing to draw")
    print(*pictures, sep="\n")
    return 0
