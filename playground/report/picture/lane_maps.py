"""The picture of the lane maps: which lane holds which element of an A operand and of an accumulator, side by side."""

from collections.abc import Sequence

from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

from playground.report.picture.header import circumstances
from playground.report.picture.page import FAILED, FAINT, INK, LIGHT, MUTED, Page

WIDTH, MARGIN = 16.4, 0.5
SIZE, LANES, PLACES = 16, 32, 8
CELL = 0.455
GRID = SIZE * CELL
LEFT_GRID, RIGHT_GRID = MARGIN + 0.3, WIDTH - MARGIN - GRID
BANNER, HEADING, TEXT, NOTE = 23, 15, 11.5, 9
SHOWN_LANE = 13

GROUP_COLOURS = ("#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7", "#999999")
"""Okabe and Ito's, one per group of four lanes."""
TINTS = (0.28, 0.42, 0.56, 0.70)
"""How much of the group's colour a lane of it has; the rest is white."""

OPERAND_PLACES = tuple(f"a{place // 2}.{('lo', 'hi')[place % 2]}" for place in range(PLACES))
ACCUMULATOR_PLACES = tuple(f"x{place}" for place in range(PLACES))

FORMULA = (
    "row    = lane >> 2  +  8 · (i >> 1 & 1)",
    "column = 2 · (lane & 3)  +  (i & 1)  +  8 · (i >> 2)",
)


def figure(record: dict) -> Figure:
    """The picture of the latest runner of the record: the GPU, or without one the emulator."""
    runner, dump = list(record["dumps"].items())[-1]
    page = Page(WIDTH)
    y = _head(page, record, runner, dump)
    _grid(page, LEFT_GRID, y, "A operand, f16, row-major", dump["operand"], OPERAND_PLACES)
    _grid(page, RIGHT_GRID, y, "accumulator, f32", dump["accumulator"], ACCUMULATOR_PLACES)
    y += 0.75 + GRID + 0.45
    bottom = max(_formula(page, MARGIN, y), _row_in_four_lanes(page, 5.95, y), _hand_over(page, 11.0, y))
    page.cut(bottom + 0.25)
    return page.figure


def _head(page: Page, record: dict, runner: str, dump: dict) -> float:
    title = "The accumulator of one matrix product is the A operand of the next"
    y = page.lines(MARGIN, 0.62, [title], BANNER, weight="bold")
    why = (
        "Both fragments of wmma m16n16k16 put element (row, column) into the same lane, at the same place. So attention"
        " keeps its softmax in registers: P = softmax(Q · Kᵀ) becomes the A operand of P · V where it is."
    )
    y = page.lines(MARGIN, y, page.wrap(why, WIDTH - 2 * MARGIN, TEXT), TEXT)
    failed = [check for check, held in dump["checks"].items() if not held]
    measured = f"dumped register by register on: {', '.join(record['dumps'])}. Shown: {runner}"
    y = page.lines(MARGIN, y, [" · ".join([measured, *circumstances(record)])], NOTE, color=MUTED)
    verdict = f"NOT so: {'; '.join(failed)}" if failed else f"held: {'; '.join(dump['checks'])}"
    return page.lines(MARGIN, y, page.wrap(verdict, WIDTH - 2 * MARGIN, NOTE), NOTE, color=FAILED if failed else MUTED)


def _grid(page: Page, x: float, y: float, title: str, held: Sequence[Sequence[int]], places: Sequence[str]) -> None:
    """A 16×16 matrix, each cell named by the lane and the place that hold it; the cells of one lane outlined."""
    page.text(x, y + 0.35, title, HEADING, weight="bold")
    page.text(x + GRID, y + 0.35, f"lane (bold) and its register; outlined: lane {SHOWN_LANE}", NOTE, MUTED, ha="right")
    y += 0.75
    owners = {index: (lane, place) for lane in range(LANES) for place, index in enumerate(held[lane][:PLACES])}
    for line in range(SIZE):
        middle = (line + 0.5) * CELL
        page.text(x + middle, y - 0.07, str(line), NOTE, LIGHT, ha="center")
        page.text(x - 0.1, y + middle + 0.05, str(line), NOTE, LIGHT, ha="right")
    for index in range(SIZE**2):
        corner = x + index % SIZE * CELL, y + index // SIZE * CELL
        if index in owners:
            lane, place = owners[index]
            _cell(page, *corner, lane, places[place])
        else:
            page.text(corner[0] + CELL / 2, corner[1] + 0.28, "?", TEXT, FAILED, ha="center")
    for index in held[SHOWN_LANE][:PLACES]:
        _box(page, x + index % SIZE * CELL, y + index // SIZE * CELL, CELL, CELL, fill=False, edge=INK, line=2.6)


def _cell(page: Page, x: float, y: float, lane: int, place: str) -> None:
    _box(page, x, y, CELL, CELL, face=colour_of(lane), edge="white", line=0.8)
    page.text(x + CELL / 2, y + 0.225, str(lane), TEXT, ha="center", weight="bold")
    page.text(x + CELL / 2, y + 0.375, place, NOTE - 0.5, ha="center")


def colour_of(lane: int) -> tuple[float, ...]:
    """The hue of the lane's group of four, the lighter the lower the lane in it."""
    tint = TINTS[lane % 4]
    return tuple(1 - tint + tint * part for part in to_rgb(GROUP_COLOURS[lane // 4]))


def _formula(page: Page, x: float, y: float) -> float:
    y = page.lines(x, y, ["The map"], HEADING, weight="bold")
    y = page.lines(x, y + 0.05, ["place i = 0 … 7 of a lane holds the element in"], TEXT)
    y = page.lines(x, y + 0.05, FORMULA, TEXT, family="DejaVu Sans Mono")
    told = (
        "An accumulator is eight f32: x0 … x7. An A operand packs two f16 into a register, place 0 into a0.lo, 1 into"
        " a0.hi and so on; its registers a4 … a7 repeat a0 … a3."
    )
    return page.lines(x, y + 0.08, page.wrap(told, 4.9, TEXT), TEXT)


def _row_in_four_lanes(page: Page, x: float, y: float) -> float:
    group = SHOWN_LANE // 4
    lanes = range(4 * group, 4 * group + 4)
    y = page.lines(x, y, ["A row lives in 4 lanes"], HEADING, weight="bold")
    y = page.lines(x, y + 0.05, [f"row {group}: two butterflies give all four its maximum, or its sum"], TEXT)
    box, pitch, drop = 0.62, 1.1, 0.62
    for step, mask in enumerate((1, 2, None)):
        top = y + step * drop
        for position, lane in enumerate(lanes):
            left = x + position * pitch
            _box(page, left, top, box, 0.3, face=colour_of(lane), edge="white", line=0.8)
            page.text(left + box / 2, top + 0.21, str(lane), TEXT, ha="center", weight="bold")
            for partner in (position, position ^ mask) if mask else ():
                ends = (left + box / 2, -(top + 0.3)), (x + partner * pitch + box / 2, -(top + drop))
                _arrow(page, *ends, MUTED if partner != position else FAINT)
        if mask:
            page.text(x + 4 * pitch - 0.3, top + 0.5, f"xor {mask}", TEXT, MUTED)
    return y + 2 * drop + 0.3 + 0.1


def _hand_over(page: Page, x: float, y: float) -> float:
    y = page.lines(x, y, ["P is handed over where it is"], HEADING, weight="bold")
    y = page.lines(x, y + 0.05, [f"lane {SHOWN_LANE}: four conversions, no memory, no shuffle"], TEXT)
    box, pitch, drop = 0.5, 0.6, 0.85
    for place in range(PLACES):
        left = x + place * pitch
        _box(page, left, y, box, 0.3, face=colour_of(SHOWN_LANE), edge="white", line=0.8)
        page.text(left + box / 2, y + 0.21, ACCUMULATOR_PLACES[place], TEXT, ha="center")
        _arrow(page, (left + box / 2, -(y + 0.3)), (left + box / 2, -(y + drop)))
    page.text(x + 8 * pitch / 2 - 0.05, y + 0.62, "cvt.rn.f16x2.f32", TEXT, ha="center", family="DejaVu Sans Mono",
              bbox={"facecolor": "white", "edgecolor": "none", "pad": 2})  # fmt: skip
    for register in range(PLACES // 2):
        left = x + 2 * register * pitch
        _box(page, left, y + drop, pitch + box, 0.3, face=colour_of(SHOWN_LANE), edge="white", line=0.8)
        page.text(left + (pitch + box) / 2, y + drop + 0.21, f"a{register}", TEXT, ha="center")
    return y + drop + 0.3 + 0.1


def _box(page, x, y, width, height, face="none", edge="none", line=1.0, fill=True) -> None:
    """A rectangle whose upper left corner is (x, y)."""
    style = {"facecolor": face, "edgecolor": edge, "linewidth": line, "fill": fill, "joinstyle": "miter"}
    page.figure.add_artist(Rectangle((x, -y - height), width, height, transform=page.from_top, **style))


def _arrow(page: Page, start: tuple[float, float], end: tuple[float, float], colour: str = MUTED) -> None:
    style = {"arrowstyle": "-|>", "mutation_scale": 9, "color": colour, "linewidth": 1.0, "shrinkA": 1, "shrinkB": 1}
    page.figure.add_artist(FancyArrowPatch(start, end, transform=page.from_top, **style))
