"""Pitfall: a mistake, what the source says of it, and the gate that must catch it."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from playground.emulator.workspace import from_checkout

PARITY, HAZARD, COUNTS, LEDGER, LIMITS, STATISTICS = "parity", "hazard", "counts", "ledger", "limits", "statistics"


@dataclass(frozen=True)
class Objection:
    """What a gate has against something. where: file and line, as far as the gate can tell."""

    gate: str
    says: str
    where: str = ""


@dataclass(frozen=True)
class Examination:
    """What the gates have against the mistake, and against the same thing done right. notes: numbers beside them."""

    wrong: Sequence[Objection]
    right: Sequence[Objection]
    where: str
    notes: Sequence[str] = ()
    diff: Sequence[str] = ()

    @property
    def told_apart(self) -> list[Objection]:
        """The objections to the mistake that what is right does not meet too."""
        met = {(objection.gate, objection.where) for objection in self.right}
        return [objection for objection in self.wrong if (objection.gate, objection.where) not in met]

    def caught_by(self, gate: str) -> Objection | None:
        """The gate's objection to the mistake; None if it has none, or objects to what is right as well."""
        if any(objection.gate == gate for objection in self.right):
            return None
        return next((objection for objection in self.wrong if objection.gate == gate), None)


@dataclass(frozen=True)
class Pitfall:
    """mistake: what it is. source: what the source says, and where. gate: the one that must catch it.

    examine: needs no GPU. on_gpu: `on_gpu(name, device)`, its symptom on a device: numbers for the record, among them
    "says", a line for the reader; None where there is nothing to see. launch: what it launches in a process of its own.
    """

    mistake: str
    source: str
    gate: str
    examine: Callable[[], Examination]
    on_gpu: Callable[[str, object], dict] | None = None
    launch: Callable[[object], dict] | None = None

    def as_record(self, name: str) -> dict:
        """Make the mistake, and tell what was found."""
        found = self.examine()
        caught = found.caught_by(self.gate)
        return {
            "name": name,
            "mistake": self.mistake,
            "source": self.source,
            "gate": self.gate,
            "caught": caught is not None,
            "symptom": caught.says if caught else "",
            "where": (caught and caught.where) or found.where,
            "made_at": found.where,
            "diff": list(found.diff),
            "notes": list(found.notes),
            "wrong": [asdict(objection) for objection in found.told_apart],
            "right": [asdict(objection) for objection in found.right],
            "gpu": None,
        }

    def main(self) -> None:
        """Run from the command line, as `python -m experiments.pitfalls.<name>`."""
        from experiments.pitfalls.__main__ import main

        sys.exit(main([Path(sys.modules["__main__"].__file__).stem, *sys.argv[1:]]))


def place(path: str | Path, line: int) -> str:
    """file:line, relative to the project where it lies inside."""
    return f"{from_checkout(path)}:{line}"


def place_of(function) -> str:
    """Where a function is defined."""
    return place(function.__code__.co_filename, function.__code__.co_firstlineno)


def raised_at(error: Exception) -> str:
    """Where an exception was raised."""
    trace = error.__traceback__
    while trace.tb_next:
        trace = trace.tb_next
    return place(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
