"""The picture of a record, drawn from it alone. Draws, never measures; the same record gives the same bytes."""

import sys
from pathlib import Path

from matplotlib.figure import Figure

from playground.errors import Refusal
from playground.report import record as records
from playground.report.picture import lane_maps
from playground.report.picture.header import header
from playground.report.picture.ledger import ledger
from playground.report.picture.page import Page, write
from playground.report.picture.ratios import ratios
from playground.report.picture.samples import samples


def draw(record: dict, path: Path) -> Path:
    """Draw the picture of one record to `path`: whole or not at all."""
    return write(path, lambda: lane_maps.figure(record) if "dumps" in record else figure(record))


def redraw(results: Path, probe: str | None = None) -> list[Path]:
    """Redraw, from its latest record, the picture beside every record file of `results` (or of that probe only)."""
    pictures = []
    for path in sorted(results.glob("*/*.jsonl")):
        if probe in (None, path.stem):
            found, warnings = records.read(path)
            print(*warnings, sep="\n", end="\n" if warnings else "", file=sys.stderr)
            if found and ("variants" in found[-1] or "dumps" in found[-1]):
                pictures.append(draw(found[-1], path.with_suffix(".png")))
    if not pictures:
        raise Refusal(f"no record of {probe or 'any probe'} in {results}: nothing to draw")
    return pictures


def figure(record: dict) -> Figure:
    """The picture of a probe before it is a file."""
    page = Page()
    bottom = header(page, record, top=0.3)
    bottom = samples(page, record, bottom + 0.3)
    bottom = ratios(page, record, bottom + 0.35)
    bottom = ledger(page, record, bottom + 0.35)
    page.cut(bottom + 0.2)
    return page.figure
