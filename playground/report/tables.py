"""What is told as a table: derived counts, ledgers; and a ratio or a check as it stands in a line."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rich.table import Table

from playground.errors import Refusal
from playground.report.derived import derived
from playground.shapes import extent


def table(*columns: str, title: str | None = None) -> Table:
    """A table whose first column is text and whose other columns are numbers."""
    made = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold", title_style="bold")
    for position, column in enumerate(columns):
        made.add_column(column, justify="right" if position else "left", overflow="fold")
    return made


def markdown(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = (columns, ("---",) * len(columns), *rows)
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |" for cells in lines)


def write_page(path: Path, *parts: str) -> None:
    """Markdown, a blank line between its parts."""
    try:
        path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    except OSError as error:
        raise Refusal(f"cannot write {path}: {error.strerror}") from error


def counts_table(emulated: Mapping) -> Table:
    """Derived counts of one emulated shape, a row per kernel."""
    figures = {label: derived(counts) for label, counts in emulated["counts"].items()}
    names = next(iter(figures.values()))
    rows = table(f"counted on {extent(emulated['dims'])}, PTX for {emulated['arch']}", *names)
    for label, own in figures.items():
        rows.add_row(label, *own.values())
    return rows


def check_line(check: str, held: bool) -> str:
    """A check of a record, with its answer before it."""
    return f"{'yes' if held else 'NO':>3}  {check}"


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
