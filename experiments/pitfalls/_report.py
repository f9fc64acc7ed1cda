"""What was found, for the reader: one pitfall in lines, all of them as a table, in the terminal or as Markdown."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from playground.report import environment
from playground.report.tables import markdown, table, write_page

COLUMNS = ("pitfall", "caught by", "symptom", "at")


def tell(out: Console, found: dict) -> None:
    """One pitfall from top to bottom."""
    out.print(f"{found['name']}: {found['mistake']}", style="bold")
    out.print(f"  source   {found['source']}")
    out.print(f"  made at  {found['made_at']}")
    for line in found["diff"]:
        out.print(f"           {line}")
    for side, objections in (("found", found["wrong"]), ("without", found["right"])):
        for objection in objections:
            out.print(f"  {side:<8} {objection['gate']}: {objection['says']}" + _at(objection["where"]))
    if not found["right"]:
        out.print("  without  the mistake no gate objects")
    for note in found["notes"]:
        out.print(f"  note     {note}")
    if found["gpu"]:
        out.print(f"  GPU      {found['gpu']['says']}")
    verdict = f"CAUGHT by {found['gate']}" if found["caught"] else f"NOT CAUGHT by {found['gate']}"
    out.print(f"  {verdict}", style=None if found["caught"] else "bold red")


def as_table(pitfalls: Sequence[dict]) -> Table:
    """One row each; the symptom on the GPU where there was one."""
    drawn = table(*COLUMNS, *(["GPU"] if _on_gpu(pitfalls) else []))
    for column in drawn.columns:
        column.justify = "left"
    for cells in _rows(pitfalls):
        drawn.add_row(*cells)
    return drawn


def write_markdown(made: dict, path: Path) -> None:
    """The same table, and what each mistake is and what the source says of it, to `path`."""
    gpu, commit = made["gpu"], environment.abbreviated(made)
    title = f"# Pitfalls, {'on the ' + gpu['name'] if gpu else 'in the emulator'}"
    columns = (*COLUMNS, *(["GPU"] if gpu else []))
    told = (f"- `{found['name']}`: {found['mistake']}. Source: {found['source']}." for found in made["pitfalls"])
    write_page(path, title, f"Commit {commit}.", markdown(columns, _rows(made["pitfalls"])), "\n".join(told))


def _rows(pitfalls: Sequence[dict]) -> list[tuple[str, ...]]:
    rows = []
    for found in pitfalls:
        caught = found["gate"] if found["caught"] else f"NOT by {found['gate']}"
        cells = (found["name"], caught, found["symptom"], found["where"])
        rows.append(cells + ((found["gpu"]["says"] if found["gpu"] else "",) if _on_gpu(pitfalls) else ()))
    return rows


def _on_gpu(pitfalls: Sequence[dict]) -> bool:
    return any(found["gpu"] for found in pitfalls)


def _at(where: str) -> str:
    return f", at {where}" if where else ""
