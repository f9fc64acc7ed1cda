"""Says what a run finds, as it finds it: tables and progress in the terminal, plain text when piped."""

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from playground.measure.parity import Parity
from playground.probe import Probe
from playground.report.derived import derived
from playground.report.rates import rates, unit_of
from playground.shapes import Shape

PIPED_WIDTH = 240


def console(quiet: bool = False) -> Console:
    """Standard output, or standard error when standard output must carry the record alone."""
    stream = sys.stderr if quiet else sys.stdout
    return Console(file=stream, highlight=False, width=None if stream.isatty() else PIPED_WIDTH, soft_wrap=True)


def table(*columns: str, title: str | None = None) -> Table:
    """A table whose first column is text and whose other columns are numbers."""
    made = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold", title_style="bold")
    for position, column in enumerate(columns):
        made.add_column(column, justify="right" if position else "left", overflow="fold")
    return made


class Narrator:
    """One voice for one run."""

    def __init__(self, out: Console):
        self.out = out

    def question(self, probe: Probe) -> None:
        self.out.print(probe.question, style="bold")
        self.out.print(f"  baseline    {probe.baseline}")
        for candidate in probe.candidates:
            self.out.print(f"  candidate   {candidate}")
        if probe.claim:
            self.out.print(f"  source      {probe.claim}")
        for prediction in probe.predictions:
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

    def parity(self, shape: Shape, gates: Mapping[str, Parity]) -> None:
        for label, gate in gates.items():
            self.out.print(f"parity {shape} {label} {gate}", style=None if gate.passed else "bold red")

    def times(self, shape: Shape, work: Mapping, samples: Mapping[str, np.ndarray], peers: Sequence[str]) -> None:
        """work: what each launch did, as in the record. peers: the sides that the others are told as a part of."""
        medians = {name: float(np.median(values)) for name, values in samples.items()}
        rows = table(f"{shape}", "median µs", "min µs", unit_of(work), "rounds", *(f"of {peer}" for peer in peers))
        for name, values in samples.items():
            median, rate = medians[name], float(rates(work, medians[name]))
            parts = (f"{medians[peer] / median:.1%}" for peer in peers)
            rows.add_row(name, f"{median:.1f}", f"{np.min(values):.1f}", f"{rate:.1f}", f"{len(values)}", *parts)
        self.out.print()
        self.out.print(rows)

    def verdicts(self, record: dict) -> None:
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
            if judged["prediction"]:
                self.out.print(f"  prediction {judged['prediction']}")

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


def counts_table(emulated: Mapping) -> Table:
    """Derived counts of one emulated shape, a column per variant."""
    counts = emulated["counts"]
    shape = "×".join(str(length) for length in emulated["dims"].values())
    rows = table(f"counted on {shape}, PTX for {emulated['arch']}", *counts)
    figures = [derived(one) for one in counts.values()]
    for name in figures[0]:
        rows.add_row(name, *(one[name] for one in figures))
    return rows


def interval(ratio: Mapping[str, float]) -> str:
    """A ratio of a record with its interval."""
    return f"{ratio['median']:.4f} [{ratio['low']:.4f}, {ratio['high']:.4f}]"


def ledger_table(ledgers: Mapping[str, Mapping[str, dict]]) -> Table:
    """Variants × GPUs, a row each."""
    rows = table("variant", "GPU", "arch", "registers", "spills", "shared", "threads", "blocks/SM", "limited by")
    for label, per_gpu in ledgers.items():
        for gpu, ledger in per_gpu.items():
            if "refused" in ledger:
                rows.add_row(label, gpu, ledger["refused"])
                continue
            rows.add_row(
                label,
                gpu,
                ledger["arch"],
                str(ledger["registers"]),
                f"{ledger['spill_stores'] + ledger['spill_loads']} B",
                f"{ledger['static_shared'] + ledger['dynamic_shared']:,} B",
                str(ledger["threads"]),
                str(ledger["blocks_per_sm"]),
                ledger["limiter"],
            )
    return rows
