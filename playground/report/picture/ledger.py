"""Ledger: what a block takes and how many fit, on the GPU at hand beside the reference; of a pipeline, step by step."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from matplotlib.patches import Rectangle

from playground.measure.launched import launched, steps_of
from playground.report.picture.page import BODY, FAILED, LEFT, MUTED, NORMAL, SMALL, Page, line_height, panel_title
from playground.report.picture.sides import side_name, sides_of

GROUP = 3.7
REGISTERS, SPILLS, SHARED, THREADS, BLOCKS = 0.5, 0.95, 1.6, 2.03, 2.22
"""Where the numbers of a column end, from the left of their GPU's group."""
BLOCKS_TILES, LIMITER = (2.28, 2.62), 2.69


def ledger(page: Page, record: dict, top: float) -> float:
    explanation = "what one block takes, and how many fit on an SM; bold: differs from the baseline"
    y = panel_title(page, top, "Ledger", explanation) + 0.1
    variants = launched(record)
    steps = [step for variant in variants for step in steps_of(variant)]
    gpus = list(steps[0]["ledgers"])[:2]
    for column, gpu in enumerate(gpus):
        _ledger_head(page, gpu, steps, BODY + column * GROUP, y)
    y += 2 * line_height(NORMAL) + 0.06
    most = max(ledger.get("blocks_per_sm", 0) for step in steps for ledger in step["ledgers"].values())
    baseline = {step["name"]: step["ledgers"] for step in steps_of(variants[0])}
    kernels = [side for side in sides_of(record) if side.role in ("baseline", "candidate", "control")]
    for side, variant in zip(kernels, variants):
        for step in steps_of(variant):
            named = side if step is variant else replace(side, name=step["label"])
            bottom = page.lines(LEFT, y, side_name(page, named), color=side.colour, weight="bold")
            for column, gpu in enumerate(gpus):
                place = BODY + column * GROUP, y
                compared = baseline.get(step["name"], {}).get(gpu, {})
                bottom = max(bottom, _ledger_entry(page, step, gpu, compared, most, *place))
            y = bottom + 0.05
    return y


def _ledger_head(page: Page, gpu: str, steps: Sequence[dict], x: float, y: float) -> None:
    archs = [step["ledgers"].get(gpu, {}).get("arch") for step in steps]
    arch = next((arch for arch in archs if arch), "")
    page.text(x + 0.05, y, f"{gpu}  {arch}".rstrip(), weight="bold")
    y += line_height(NORMAL)
    heads = {REGISTERS: "registers", SPILLS: "spills, B", SHARED: "shared, B", THREADS: "threads"}
    for place, head in heads.items():
        page.text(x + place, y, head, SMALL, MUTED, ha="right")
    page.text(x + BLOCKS - 0.1, y, "blocks/SM", SMALL, MUTED)
    page.text(x + LIMITER, y, "limited by", SMALL, MUTED)


def _ledger_entry(page: Page, step: dict, gpu: str, baseline: Mapping, most: int, x: float, y: float) -> float:
    """One kernel on one GPU; the y below."""
    ledger = step["ledgers"].get(gpu, {"refused": "not built"})
    if "refused" in ledger:
        text = "refused: " + ledger["refused"].removeprefix(step["label"]).strip()
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
