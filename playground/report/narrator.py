"""Says what a run finds, as it finds it: tables and progress in the terminal, plain text when piped."""

import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from playground.measure.parity import Parity
from playground.report.floors import floors_table, reached_table
from playground.report.marks import mark_line
from playground.report.rates import rates
from playground.report.tables import counts_table, interval, ledger_table, table
from playground.shapes import Shape

PIPED_WIDTH = 240


class Voice(Console):
    """A console whose listener may leave: the run goes on to its record."""

    def on_broken_pipe(self) -> None:
        """Say no more."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())


def console(quiet: bool = False) -> Console:
    """Standard output, or standard error when standard output must carry the record alone."""
    stream = (sys.stderr if quiet else sys.stdout) or io.StringIO()  # None where the shell closed it
    width = None if stream.isatty() else PIPED_WIDTH
    return Voice(file=stream, highlight=False, markup=False, emoji=False, width=width, soft_wrap=True)


class Narrator:
    """One voice for one run."""

    def __init__(self, out: Console):
        self.out = out

    def question(
        self,
        question: str,
        kernels: Sequence[str],
        claim: str | None,
        predictions: Sequence[str],
        controls: Sequence[str] = (),
    ) -> None:
        """kernels: the labels of those compared, the baseline's first. controls: of those launched beside them."""
        baseline, *candidates = kernels
        self.out.print(question, style="bold")
        self.out.print(f"  baseline    {baseline}")
        for candidate in candidates:
            self.out.print(f"  candidate   {candidate}")
        for control in controls:
            self.out.print(f"  control     {control}")
        if claim:
            self.out.print(f"  source      {claim}")
        for prediction in predictions:
            self.out.print(f"  prediction  {prediction}")

    def ledgers(self, ledgers: Mapping[str, Mapping[str, dict]]) -> None:
        self.out.print()
        self.out.print(ledger_table(ledgers))

    def not_timed(self) -> None:
        self.out.print("\nnot timed: no GPU")

    def hazards(self, hazards: Mapping[str, Sequence[dict]]) -> None:
        for label, found in hazards.items():
            self.out.print(f"hazards {label}: {len(found) or 'none'}", style="bold red" if found else None)
            for hazard in found:
                self.out.print(f"  {hazard['file']}:{hazard['line']}: {hazard['kind']}. {hazard['fix']}")

    def counts(self, emulated: Mapping) -> None:
        self.out.print()
        self.out.print(counts_table(emulated))

    def floors(self, record: Mapping) -> None:
        """Before timing: what no launch can be faster than, and what that predicts."""
        self.out.print()
        self.out.print(floors_table(record))

    def _floors_reached(self, record: Mapping) -> None:
        """After timing: the floors beside the times."""
        if rows := reached_table(record):
            self.out.print()
            self.out.print(rows)

    def recorded_parity(self, what: str, gates: Mapping[str, Mapping]) -> None:
        """Gates as they are in a record."""
        self.parity(what, {label: Parity(**gate) for label, gate in gates.items()})

    def parity(self, shape: Shape | str, gates: Mapping[str, Parity]) -> None:
        for label, gate in gates.items():
            self.out.print(f"parity {shape} {label} {gate}", style=None if gate.passed else "bold red")

    def times(self, shape: Shape, work: Mapping, samples: Mapping[str, np.ndarray], peers: Sequence[str]) -> None:
        """work: what each launch did, as in the record. peers: the sides that the others are told as a part of."""
        medians = {name: float(np.median(values)) for name, values in samples.items()}
        rows = table(f"{shape}", "median µs", "min µs", work["unit"], "rounds", *(f"of {peer}" for peer in peers))
        for name, values in samples.items():
            median, rate = medians[name], float(rates(work, medians[name]))
            parts = (f"{medians[peer] / median:.1%}" for peer in peers)
            rows.add_row(name, f"{median:.1f}", f"{np.min(values):.1f}", f"{rate:.1f}", f"{len(values)}", *parts)
        self.out.print()
        self.out.print(rows)

    def beginnings(self, samples: Mapping[str, np.ndarray], whole: np.ndarray) -> None:
        """What the first steps of a pipeline take alone, beside the whole [µs]."""
        for name, values in samples.items():
            self.out.print(f"{name} alone: {np.median(values):.1f} µs, {np.median(values / whole):.1%} of the baseline")

    def upper_bounds(self, record: dict) -> None:
        """What is to be gained at the most by doing without a pipeline's first steps."""
        for label, bound in record["upper_bounds"].items():
            self.out.print()
            gain = f"upper bound: at most {bound['ratio']['median'] - 1:.1%} by removing {label}"
            self.out.print(gain, style="bold")
            wall = f"; on the wall {interval(bound['wall'])}" if bound["wall"] else ""
            self.out.print(f"  ratio {interval(bound['ratio'])}, if the rest took as long without it{wall}")

    def verdicts(self, record: dict) -> None:
        """After timing: the floors beside the times, and the verdict on each candidate with what it rests on."""
        self._floors_reached(record)
        self.out.print()
        for label, judged in record["verdicts"].items():
            ratio, control = judged["ratio"], judged["control"]
            self.out.print(f"{label}: {judged['verdict'].upper()}: {judged['reason']}", style="bold")
            self.out.print(f"  ratio {interval(ratio)}, A/A {interval(control)}, over the sum of all shapes")
            if judged["wall"]:
                wall, share = judged["wall"], record["share"]
                self.out.print(
                    f"  wall  {interval(wall['ratio'])}: {wall['verdict']}, by Amdahl with the source's share of"
                    f" {share['fraction']:.1%} ({share['source']})"
                )
            if "wall_measured" in judged:
                self._measured_wall(judged["wall_measured"], record["wall"])
            if judged["prediction"]:
                self.out.print(f"  prediction {judged['prediction']}")

    def _measured_wall(self, wall: Mapping, measured: Mapping) -> None:
        prefills = f"whole prefills of {measured['tokens']:,} tokens, as the {measured['pass']} of {measured['stage']}"
        verdict = f"{interval(wall['ratio'])}: {wall['verdict']}, A/A {interval(wall['control'])}"
        self.out.print(f"  wall  {verdict}, measured on {prefills}")

    def mechanisms(self, judged: Sequence[Mapping]) -> None:
        """judged: as in the record, a line for each mark."""
        self.out.print()
        for mechanism in judged:
            for mark in mechanism["marks"]:
                self.out.print(mark_line(mechanism, mark))

    @contextlib.contextmanager
    def progress(self, what: str, total: int | None) -> Iterator[Callable[[], None]]:
        """A bar while the block runs; it yields the function that advances it."""
        if not self.out.is_terminal:
            yield lambda: None
            return
        described = TextColumn("{task.description}")
        columns = (SpinnerColumn(), described, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=self.out, transient=True) as bar:
            task = bar.add_task(what, total=total)
            yield lambda: bar.advance(task)
