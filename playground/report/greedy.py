"""What is told of greedy decodings: the texts, where configurations part, and by what margins."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from rich.table import Table

from playground.measure.parity import Parity
from playground.report.tables import table


def texts(record: Mapping) -> Iterator[str]:
    """A line per prompt: it, and what the first configuration wrote."""
    baseline = next(iter(record["decoded"].values()))
    for number, (prompt, entry) in enumerate(zip(record["prompts"], baseline), 1):
        yield f"prompt {number}  {prompt!r} → {entry['text']!r}"


def as_table(record: Mapping) -> Table:
    """A row per configuration: where it parts from the first, its least margin, how far its logits are off."""
    numbers = range(1, len(record["prompts"]) + 1)
    rows = table("configuration", *(f"prompt {number}" for number in numbers), "least margin", "logits off by")
    for position, (name, entries) in enumerate(record["decoded"].items()):
        cells = (_cell(entry["difference"], "identical" if position else "baseline") for entry in entries)
        least = min(margin for entry in entries for margin in entry["margins"])
        rows.add_row(name, *cells, f"{least:.2e}", f"{max(entry['deviation'] for entry in entries):.2e}")
    return rows


def differences(record: Mapping, decode: Callable[[Sequence[int]], str]) -> Iterator[str]:
    """A line per first difference: both choices, and each side's margin."""
    baseline = next(iter(record["decoded"]))
    for name, entries in record["decoded"].items():
        for number, entry in enumerate(entries, 1):
            if difference := entry["difference"]:
                (first, other), (its, own) = (decode([token]) for token in difference["tokens"]), difference["margins"]
                place = f"prompt {number}, token {difference['step'] + 1}"
                yield f"{place}: {baseline} {first!r} by {its:.2e}, {name} {other!r} by {own:.2e}"


def parities(record: Mapping) -> Iterator[str]:
    """A line per prompt and configuration whose logits were compared with transformers'."""
    for name, gates in record["transformers"].items():
        for number, gate in enumerate(gates, 1):
            yield f"transformers, prompt {number}, {name} {Parity(**gate)}"


def _cell(difference: Mapping | None, same: str) -> str:
    return f"from token {difference['step'] + 1}" if difference else same
