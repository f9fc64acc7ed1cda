"""Counts: what the emulator counted of each rung, and what one block of it takes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from playground.measure.figures import shared
from playground.report.derived import conflict_degree
from playground.report.ladder import Ladder, tiles
from playground.report.picture.ladder.rows import BODY, FIRST_ROW, PITCH, SOURCE_LEFT, middle_of, name_rungs
from playground.report.picture.page import LEFT, MUTED, SMALL, Page, line_height, panel_title
from playground.shapes import extent

RIGHT = SOURCE_LEFT - 0.3
NOTES = (
    "per 64×64: for the scores of 64 queries × 64 keys, however they are tiled. conflict degree: shared wavefronts"
    " over those that the same accesses would take without bank conflicts. bytes: of shared memory."
)


@dataclass(frozen=True)
class Counted:
    """A rung as its records have it; `dims`: what its `counts` were counted on."""

    variant: Mapping
    dims: Mapping[str, int]
    counts: Mapping[str, float]

    @property
    def per_tile(self) -> str:
        return f"{self.counts['barriers'] / tiles(self.dims, self.variant['parameters']['TKV']):g}"

    @property
    def block_bytes(self) -> str:
        built = (ledger for ledger in self.variant["ledgers"].values() if "refused" not in ledger)
        return next((f"{ledger['static_shared'] + ledger['dynamic_shared']:,}" for ledger in built), "")

    def per_64x64(self, count: float) -> str:
        """A count per 64 queries × 64 keys, which makes tiles of different widths comparable."""
        return f"{count / tiles(self.dims, 64):,.0f}"


@dataclass(frozen=True)
class Column:
    """One number per rung. title: two lines. read: from the rung to text, "" if unknown."""

    title: tuple[str, str]
    read: Callable[[Counted], str]


COUNTED = (
    Column(("keys", "per tile"), lambda rung: str(rung.variant["parameters"]["TKV"])),
    Column(("barriers", "per tile"), lambda rung: rung.per_tile),
    Column(("shared KB", "per 64×64"), lambda rung: rung.per_64x64(shared(rung.counts, "bytes") / 1024)),
    Column(("conflict", "degree"), lambda rung: conflict_degree(rung.counts)),
    Column(("warp instr.", "per 64×64"), lambda rung: rung.per_64x64(rung.counts["inst_executed"])),
    Column(("bytes", "per block"), lambda rung: rung.block_bytes),
)


def counts(page: Page, ladder: Ladder, top: float) -> float:
    rungs = [_counted(ladder, rung.name) for rung in ladder.rungs]
    on = next((extent(rung.dims) for rung in rungs if rung), "")
    explanation = f"by the emulator on {on}, and what one block takes"
    panel_title(page, top, "Counted", explanation, right=SOURCE_LEFT - 0.25, body=BODY)
    y = top + FIRST_ROW
    columns = _columns(ladder)
    pitch = (RIGHT - BODY) / len(columns)
    for place, column in enumerate(columns, 1):
        _column(page, column, rungs, BODY + place * pitch, y)
    name_rungs(page, ladder, y)
    lines = page.wrap(f"{NOTES} {_spills(ladder)}", RIGHT - LEFT, SMALL - 0.5)
    return page.lines(LEFT, y + len(rungs) * PITCH + 0.3, lines, SMALL - 0.5, color=MUTED)


def _counted(ladder: Ladder, name: str) -> Counted | None:
    variant, counts = ladder.variant(name), ladder.counts(name)
    return Counted(variant, *counts) if variant and counts else None


def _column(page: Page, column: Column, rungs: Sequence[Counted | None], x: float, y: float) -> None:
    for line, text in enumerate(column.title):
        page.text(x, y + (line - 2) * line_height(SMALL), text, SMALL - 0.5, MUTED, ha="right")
    for row, rung in enumerate(rungs):
        if rung:
            page.text(x, y + middle_of(row) + 0.04, column.read(rung), ha="right")


def _columns(ladder: Ladder) -> list[Column]:
    gpus = next(list(variant["ledgers"]) for rung in ladder.rungs if (variant := ladder.variant(rung.name)))[:2]
    return [
        *COUNTED,
        *(_ledger_column(gpu, "registers", "registers") for gpu in gpus),
        *(_ledger_column(gpu, "blocks/SM", "blocks_per_sm") for gpu in gpus),
    ]


def _ledger_column(gpu: str, title: str, key: str) -> Column:
    short = gpu.removeprefix("NVIDIA ").split()[0]
    return Column((title, short), lambda rung: f"{rung.variant['ledgers'].get(gpu, {}).get(key, '')}")


def _spills(ladder: Ladder) -> str:
    variants = {rung.name: ladder.variant(rung.name) for rung in ladder.rungs}
    spilling = [
        f"{name} on {gpu}: {spilled} B"
        for name, variant in variants.items()
        for gpu, ledger in (variant["ledgers"] if variant else {}).items()
        if (spilled := ledger.get("spill_stores", 0) + ledger.get("spill_loads", 0))
    ]
    return "Spills: " + (", ".join(spilling) or "none") + "."
