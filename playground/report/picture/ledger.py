"""Ledger: what a block takes and how many fit, on the GPU at hand beside the reference."""

from collections.abc import Mapping

from matplotlib.patches import Rectangle

from playground.report.picture.page import BODY, FAILED, LEFT, MUTED, NORMAL, SMALL, Page, line_height, panel_title
from playground.report.picture.sides import side_name, sides_of
from playground.report.variants import launched

GROUP = 3.7
REGISTERS, SPILLS, SHARED, THREADS, BLOCKS = 0.5, 0.95, 1.6, 2.03, 2.22
"""Where the numbers of a column end, from the left of their GPU's group."""
BLOCKS_TILES, LIMITER = (2.28, 2.62), 2.69


def ledger(page: Page, record: dict, top: float) -> float:
    explanation = "what one block takes, and how many fit on an SM; bold: differs from the baseline"
    y = panel_title(page, top, "Ledger", explanation) + 0.1
    gpus = list(record["variants"][0]["ledgers"])[:2]
    for column, gpu in enumerate(gpus):
        _ledger_head(page, gpu, record, BODY + column * GROUP, y)
    y += 2 * line_height(NORMAL) + 0.06
    ledgers = [ledger for variant in launched(record) for ledger in variant["ledgers"].values()]
    most = max(ledger.get("blocks_per_sm", 0) for ledger in ledgers)
    baseline = record["variants"][0]["ledgers"]
    kernels = [side for side in sides_of(record) if side.role in ("baseline", "candidate", "control")]
    for side, variant in zip(kernels, launched(record)):
        bottom = page.lines(LEFT, y, side_name(page, side), color=side.colour, weight="bold")
        for column, gpu in enumerate(gpus):
            place = BODY + column * GROUP, y
            bottom = max(bottom, _ledger_entry(page, variant, gpu, baseline.get(gpu, {}), most, *place))
        y = bottom + 0.05
    return y


def _ledger_head(page: Page, gpu: str, record: dict, x: float, y: float) -> None:
    archs = [variant["ledgers"].get(gpu, {}).get("arch") for variant in record["variants"]]
    arch = next((arch for arch in archs if arch), "")
    page.text(x + 0.05, y, f"{gpu}  {arch}".rstrip(), weight="bold")
    y += line_height(NORMAL)
    heads = {REGISTERS: "registers", SPILLS: "spills, B", SHARED: "shared, B", THREADS: "threads"}
    for place, head in heads.items():
        page.text(x + place, y, head, SMALL, MUTED, ha="right")
    page.text(x + BLOCKS - 0.1, y, "blocks/SM", SMALL, MUTED)
    page.text(x + LIMITER, y, "limited by", SMALL, MUTED)


def _ledger_entry(page: Page, variant: dict, gpu: str, baseline: Mapping, most: int, x: float, y: float) -> float:
    """One variant on one GPU; the y below."""
    ledger = variant["ledgers"].get(gpu, {"refused": "not built"})
    if "refused" in ledger:
        text = "refused: " + ledger["refused"].removeprefix(variant["label"]).strip()
        return page.lines(x + 0.05, y, page.wrap(text, GROUP - 0.2, SMALL), SMALL, color=FAILED)
    ours, theirs = _figures(ledger), {} if "refused" in baseline or not baseline else _figures(baseline)
    for place, text in ours.items():
        bold = place in theirs and theirs[place] != text
        page.text(x + place, y, text, weight="bold" if bold else "normal", ha="left" if place == LIMITER else "right")
    _blocks(page, ledger["blocks_per_sm"], most, x, y)
    return y + line_height(NORMAL)


def _figures(ledger: Mapping) -> dict[float, str]:
    return {
        REGISTERS: f"{ledger['registers']}",
        SPILLS: f"{ledger['spill_stores'] + ledger['spill_loads']:,}",
        SHARED: f"{ledger['static_shared'] + ledger['dynamic_shared']:,}",
        THREADS: f"{ledger['threads']}",
        BLOCKS: f"{ledger['blocks_per_sm']}",
        LIMITER: ledger["limiter"],
    }


def _blocks(page: Page, blocks: int, most: int, x: float, y: float) -> None:
    """One tile per resident block."""
    start, end = BLOCKS_TILES
    pitch = (end - start) / max(most, 1)
    for block in range(blocks):
        tile = Rectangle(
            (x + start + block * pitch, -y), 0.75 * pitch, 0.085, transform=page.from_top, color=MUTED, linewidth=0
        )
        page.figure.add_artist(tile)
