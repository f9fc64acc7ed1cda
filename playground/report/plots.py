"""Pictures of a record, and of a ladder's records. Draws, never measures; the same records give the same bytes."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

from playground.errors import Refusal
from playground.report import ladder
from playground.report import record as records
from playground.report.ladder import Rung
from playground.report.picture import lane_maps, prefill_wall
from playground.report.picture.header import header
from playground.report.picture.ladder.figure import figure as ladder_figure
from playground.report.picture.ledger import ledger
from playground.report.picture.mechanisms import mechanisms
from playground.report.picture.page import Page, write
from playground.report.picture.ratios import ratios
from playground.report.picture.samples import samples

FIGURES = {"dumps": lane_maps.figure, "budgets": prefill_wall.figure}
"""What tells a record that is no probe's -> its picture."""


def has_picture(record: dict) -> bool:
    """Whether a record is of a kind that is drawn."""
    return bool(record.keys() & {"variants", *FIGURES})


def draw(record: dict, path: Path) -> Path:
    """Draw the picture of one record to `path`: whole or not at all."""
    return write(path, lambda: _figure_of(record)(record))


def redraw(results: Path, probe: str | None = None) -> list[Path]:
    """Redraw, from its latest record, the picture beside every record file of `results` (or of that probe only)."""
    pictures = []
    for path in sorted(results.glob("*/*.jsonl")):
        if probe in (None, path.stem):
            latest = records.latest(path)
            if latest and has_picture(latest):
                pictures.append(draw(latest, path.with_suffix(".png")))
    if not pictures:
        raise Refusal(f"no record of {probe or 'any probe'} in {results}: nothing to draw")
    return pictures


def _figure_of(record: dict) -> Callable[[dict], Figure]:
    return next((drawn for key, drawn in FIGURES.items() if key in record), figure)


def redraw_ladders(results: Path, rungs: Sequence[Rung]) -> list[Path]:
    """Draw fa_ladder.png in every folder of `results` that has records of the ladder's probes."""
    ladders = {folder: ladder.read(folder, rungs) for folder in sorted(results.glob("*/"))}
    return [
        write(folder / "fa_ladder.png", partial(ladder_figure, climbed))
        for folder, climbed in ladders.items()
        if climbed.records
    ]


def figure(record: dict) -> Figure:
    """The picture of a probe before it is a file."""
    page = Page()
    bottom = header(page, record, top=0.3)
    bottom = samples(page, record, bottom + 0.3)
    bottom = ratios(page, record, bottom + 0.35)
    bottom = ledger(page, record, bottom + 0.35)
    bottom = mechanisms(page, record, bottom + 0.35)
    page.cut(bottom + 0.2)
    return page.figure
