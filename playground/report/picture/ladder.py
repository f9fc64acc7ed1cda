"""The picture of the ladder: times per layer and rung on each shape, what was counted of each, the source's figures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from playground.report.derived import SHARED
from playground.report.ladder import RUNGS, Ladder, tiles
from playground.report.picture.header import circumstances
from playground.report.picture.page import (
    FAILED,
    FAINT,
    HEADING,
    INK,
    LEFT,
    LIGHT,
    MUTED,
    NORMAL,
    PLAIN,
    SMALL,
    TITLE,
    Page,
    line_height,
)
from playground.report.picture.samples import four_digits
from playground.report.picture.sides import CANDIDATE_COLOURS, PEER_COLOUR

WIDTH = 11.6
RIGHT = WIDTH - LEFT
BODY = 3.05
PITCH, GAP = 0.4, 0.3
NUMBERS = 1.3
"""Width of a panel's two columns of numbers."""
OURS, SLOWER = CANDIDATE_COLOURS[:2]
SOURCE = "#7a7a7a"
SOURCE_LEFT = 8.75


def figure(ladder: Ladder) -> Figure:
    """The picture before it is a file."""
    page = Page(WIDTH)
    y = _head(page, ladder, 0.38)
    shapes = ladder.shapes()
    y = _times(page, ladder, shapes, y + 0.3) if shapes else _untimed(page, ladder, y + 0.3)
    y = _counts_and_source(page, ladder, y + 0.35)
    page.cut(y + 0.1)
    return page.figure


def _head(page: Page, ladder: Ladder, y: float) -> float:
    y = page.lines(LEFT, y, ["The flash-attention ladder: one layer's causal attention, rung by rung"], TITLE,
                   weight="bold")  # fmt: skip
    newest = max(ladder.records.values(), key=lambda record: record["time"])
    commits = sorted({record["commit"][:8] for record in ladder.records.values() if record["commit"]})
    facts = [circumstances(newest)[0], f"commit {', '.join(commits) or 'unknown'}", *circumstances(newest)[2:]]
    y = page.lines(LEFT, y, page.wrap(" · ".join(facts), RIGHT - LEFT), color=MUTED)
    missing = [rung.probe for rung in RUNGS if rung.probe and rung.probe not in ladder.records]
    return page.lines(LEFT, y, [f"no record of {', '.join(missing)}"] if missing else [], color=FAILED)


# ------------------------------------------------------------------------------------------------------------ the times


def _times(page: Page, ladder: Ladder, shapes: Sequence[dict], top: float) -> float:
    """A panel per shape: an arrow per rung, from the time of the rung before to its own, on a logarithmic axis."""
    explanation = "median time in µs (log scale); an arrow comes from the rung that it was measured against, in one run"
    y = _panel_title(page, top, "Time per layer", explanation) + 0.1
    pitch = (RIGHT + GAP - BODY) / len(shapes)
    peers = list(dict.fromkeys(peer for dims in shapes for peer in ladder.peers(dims)))
    for column, dims in enumerate(shapes):
        _time_panel(page, ladder, dims, peers, BODY + column * pitch, y, pitch - GAP)
    y += 2 * line_height(NORMAL)
    _name_rungs(page, ladder, y)
    for row, peer in enumerate(peers, len(RUNGS)):
        page.text(LEFT, y + row * PITCH + 0.2, peer, color=PEER_COLOUR, weight="bold")
        page.text(LEFT, y + row * PITCH + 0.33, "torch, in the same run", SMALL, MUTED)
    return y + (len(RUNGS) + len(peers)) * PITCH + 0.25


def _time_panel(page: Page, ladder: Ladder, dims: dict, peers: Sequence[str], x: float, y: float, width: float) -> None:
    plot = width - NUMBERS
    page.text(x, y, f"nt = {dims['nt']:,}", weight="bold")
    page.text(x + 0.75, y, ", ".join(f"{name} {dims[name]}" for name in ("nh", "nk", "kv")), SMALL, MUTED)
    page.text(x + plot + 0.6, y, "µs", SMALL, MUTED, ha="right")
    page.text(x + width, y, "step", SMALL, MUTED, ha="right")
    y += 2 * line_height(NORMAL)
    times = {rung.name: ladder.medians(rung.name, dims) for rung in RUNGS}
    theirs = ladder.peers(dims)
    axes = _log_axes(page, [time for found in (*times.values(), *theirs.values()) for time in found], x, y, plot,
                     len(RUNGS) + len(peers))  # fmt: skip
    for row, rung in enumerate(RUNGS):
        middle = (row + 0.5) * PITCH
        if found := times[rung.name]:
            _step_arrow(axes, middle, times.get(rung.before), found)
            step = ladder.step(rung, dims)
            colour = SLOWER if step and step["median"] < 1 else INK
            page.text(x + plot + 0.6, y + middle + 0.04, _microseconds(found), ha="right")
            page.text(x + width, y + middle + 0.04, f"{step['median']:.2f}×" if step else "", color=colour,
                      weight="bold", ha="right")  # fmt: skip
        else:
            page.text(x + plot + 0.6, y + middle + 0.04, "not timed", SMALL, MUTED, ha="right")
    for row, peer in enumerate(peers, len(RUNGS)):
        middle = (row + 0.5) * PITCH
        if found := theirs.get(peer):
            axes.axvline(np.median(found), color=PEER_COLOUR, linewidth=0.8, dashes=(4, 3), zorder=0)
            axes.plot(found, [middle] * len(found), "D", color=PEER_COLOUR, markersize=4)
            page.text(x + plot + 0.6, y + middle + 0.04, _microseconds(found), ha="right")
            over = ladder.over_peer(RUNGS[-1].name, peer, dims)
            if over:
                page.text(x + width, y + middle + 0.04, f"{RUNGS[-1].name} {over:.1f}×", SMALL, PEER_COLOUR, ha="right")


def _microseconds(medians: Sequence[float]) -> str:
    median = float(np.median(medians))
    return f"{median:,.0f}" if median >= 1000 else four_digits(median)


def _log_axes(page: Page, values: Sequence[float], x: float, y: float, width: float, rows: int):
    axes = page.frame(x, y, width, rows * PITCH)
    axes.set_xscale("log")
    axes.set(xlim=(min(values) / 1.25, max(values) * 1.25), ylim=(rows * PITCH, 0))
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if max(values) < 50 * min(values) else (1,)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(PLAIN)
    for row in range(rows):
        axes.axhline((row + 0.5) * PITCH, color=FAINT, linewidth=0.5, zorder=0)
    return axes


def _step_arrow(axes, middle: float, before: Sequence[float] | None, found: Sequence[float]) -> None:
    """An arrow from the median of `before`, if there is one, to that of `found`, and a dot per record."""
    end = float(np.median(found))
    if before:
        start = float(np.median(before))
        _arrow(axes, middle, start, end, OURS if end <= start else SLOWER)
    axes.plot(found, [middle] * len(found), "o", color=OURS, markersize=4.5, zorder=3)


def _arrow(axes, middle: float, start: float, end: float, colour: str) -> None:
    style = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.6, "mutation_scale": 8, "shrinkA": 0, "shrinkB": 3}
    axes.annotate("", (end, middle), (start, middle), arrowprops=style)
    axes.plot([start], [middle], "o", color="white", markeredgecolor=colour, markersize=3.5, zorder=3)


def _untimed(page: Page, ladder: Ladder, y: float) -> float:
    y = _panel_title(page, y, "Time per layer", "")
    page.text(BODY, y - line_height(HEADING), "not timed: no GPU", HEADING, weight="bold")
    return y - 0.1


# ----------------------------------------------------------------------------------------------------------- the counts


@dataclass(frozen=True)
class Column:
    """One number per rung. title: two lines. read: from the ladder and the rung's name to text, "" if unknown."""

    title: tuple[str, str]
    read: Callable[[Ladder, str], str]


def _columns(ladder: Ladder) -> list[Column]:
    gpus = next(list(variant["ledgers"]) for rung in RUNGS if (variant := ladder.variant(rung.name)))[:2]
    return [
        Column(("keys", "per tile"), lambda ladder, name: str(ladder.variant(name)["parameters"]["TKV"])),
        Column(("barriers", "per tile"), _barriers_per_tile),
        Column(("shared KB", "per 64×64"), _per_64x64(_shared("bytes"), 1024)),
        Column(("conflict", "degree"), _conflict_degree),
        Column(("warp instr.", "per 64×64"), _per_64x64(lambda counts: counts["inst_executed"])),
        Column(("bytes", "per block"), _bytes_per_block),
        *(_ledger_column(gpu, "registers", "registers") for gpu in gpus),
        *(_ledger_column(gpu, "blocks/SM", "blocks_per_sm") for gpu in gpus),
    ]


def _ledger_column(gpu: str, title: str, key: str) -> Column:
    short = gpu.removeprefix("NVIDIA ").split()[0]
    return Column((title, short), lambda ladder, name: f"{ladder.variant(name)['ledgers'].get(gpu, {}).get(key, '')}")


def _bytes_per_block(ladder: Ladder, name: str) -> str:
    built = (ledger for ledger in ladder.variant(name)["ledgers"].values() if "refused" not in ledger)
    return next((f"{ledger['static_shared'] + ledger['dynamic_shared']:,}" for ledger in built), "")


def _spills(ladder: Ladder) -> str:
    variants = {rung.name: ladder.variant(rung.name) for rung in RUNGS}
    spilling = [
        f"{name} on {gpu}: {spilled} B"
        for name, variant in variants.items()
        for gpu, ledger in (variant["ledgers"] if variant else {}).items()
        if (spilled := ledger.get("spill_stores", 0) + ledger.get("spill_loads", 0))
    ]
    return "Spills: " + (", ".join(spilling) or "none") + "."


def _shared(what: str) -> Callable[[Mapping], float]:
    return lambda counts: sum(counts.get(f"shared_{how}_{what}", 0) for how in SHARED)


def _barriers_per_tile(ladder: Ladder, name: str) -> str:
    dims, counts = ladder.counts(name)
    return f"{counts['barriers'] / tiles(dims, ladder.variant(name)['parameters']['TKV']):g}"


def _conflict_degree(ladder: Ladder, name: str) -> str:
    counts = ladder.counts(name)[1]
    return f"{_shared('wavefronts')(counts) / _shared('wavefronts_ideal')(counts):.2f}"


def _per_64x64(total: Callable[[Mapping], float], unit: int = 1) -> Callable[[Ladder, str], str]:
    """A count per 64 queries × 64 keys, which makes tiles of different widths comparable."""

    def read(ladder, name):
        dims, counts = ladder.counts(name)
        return f"{total(counts) / tiles(dims, 64) / unit:,.0f}"

    return read


def _counts_and_source(page: Page, ladder: Ladder, top: float) -> float:
    dims = next((found[0] for rung in RUNGS if (found := ladder.counts(rung.name))), {})
    shape = "×".join(str(length) for length in dims.values())
    y = _panel_title(page, top, "Counted", f"by the emulator on {shape}, and what one block takes", SOURCE_LEFT - 0.25)
    page.rule(SOURCE_LEFT, RIGHT, top - 0.2)
    page.text(SOURCE_LEFT, top, "The source's own, on its GB10", HEADING, SOURCE, weight="bold")
    columns = _columns(ladder)
    pitch = (SOURCE_LEFT - 0.3 - BODY) / len(columns)
    y += 0.1
    for place, column in enumerate(columns, 1):
        for line, text in enumerate(column.title):
            page.text(BODY + place * pitch, y + line * line_height(SMALL), text, SMALL - 0.5, MUTED, ha="right")
    page.text(RIGHT, y + line_height(SMALL), "ms per layer", SMALL - 0.5, MUTED, ha="right")
    y += 2 * line_height(SMALL)
    _name_rungs(page, ladder, y)
    for row, rung in enumerate(RUNGS):
        known = ladder.variant(rung.name) and ladder.counts(rung.name)
        for place, column in enumerate(columns, 1) if known else ():
            text = column.read(ladder, rung.name)
            page.text(BODY + place * pitch, y + (row + 0.5) * PITCH + 0.04, text, ha="right")
    _source(page, y)
    bottom = y + len(RUNGS) * PITCH + 0.3
    notes = (
        "per 64×64: for the scores of 64 queries × 64 keys, however they are tiled. conflict degree: shared wavefronts"
        " over those that the same accesses would take without bank conflicts. bytes: of shared memory. "
        + _spills(ladder)
    )
    lines = page.wrap(notes, SOURCE_LEFT - 0.3 - LEFT, SMALL - 0.5)
    return page.lines(LEFT, bottom, lines, SMALL - 0.5, color=MUTED)


def _source(page: Page, y: float) -> None:
    """The source's times, an arrow each, in the two sessions that it measured in."""
    values = [time for rung in RUNGS if rung.source_ms for time in rung.source_ms if time]
    axes = _log_axes(page, values, SOURCE_LEFT, y, RIGHT - SOURCE_LEFT - 1.05, len(RUNGS))
    for row, rung in enumerate(RUNGS):
        middle = (row + 0.5) * PITCH
        if rung.source_ms is None:
            page.text(RIGHT, y + middle + 0.04, "with the next", SMALL, MUTED, ha="right")
            continue
        before, after = rung.source_ms
        colour = SOURCE if rung.session == "P5" else INK
        if before:
            _arrow(axes, middle, before, after, colour)
        axes.plot([after], [middle], "s", color=colour, markersize=3.8, zorder=3)
        text = f"{before:g} → {after:g}" if before else f"{after:g}"
        page.text(RIGHT, y + middle + 0.04, text, color=colour, ha="right")
    note = "grey: seed 000 (P5); black: seed 001 (r46, r48). P5·3 is 1.92 ms in the one and 5.16 ms in the other."
    bottom = y + len(RUNGS) * PITCH + 0.3
    page.lines(SOURCE_LEFT, bottom, page.wrap(note, RIGHT - SOURCE_LEFT, SMALL - 0.5), SMALL - 0.5, color=MUTED)


# --------------------------------------------------------------------------------------------------------------- common


def _name_rungs(page: Page, ladder: Ladder, y: float) -> None:
    for row, rung in enumerate(RUNGS):
        seen = ladder.variant(rung.name)
        page.text(LEFT, y + row * PITCH + 0.2, rung.name, color=INK if seen else LIGHT, weight="bold")
        page.text(LEFT, y + row * PITCH + 0.33, rung.idea if seen else "no record", SMALL, MUTED)


def _panel_title(page: Page, top: float, title: str, explanation: str, right: float = RIGHT) -> float:
    page.rule(LEFT, right, top - 0.2)
    page.text(LEFT, top, title, HEADING, weight="bold")
    page.text(BODY, top, explanation, color=MUTED)
    return top + line_height(HEADING)
