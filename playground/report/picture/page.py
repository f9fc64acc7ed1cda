"""The page: every size is in inches, counted from its top left corner."""

import io
import os
from bisect import bisect_right
from collections.abc import Callable, Iterable
from pathlib import Path

import matplotlib.style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter
from matplotlib.transforms import ScaledTranslation

from playground.errors import Refusal

WIDTH, DPI = 10.0, 160
LEFT, RIGHT = 0.3, 9.7
BODY = 2.3
TITLE, HEADING, NORMAL, SMALL = 13, 9, 8, 7
STYLE = {"font.family": "DejaVu Sans", "font.size": NORMAL, "text.parse_math": False}

INK, MUTED, LIGHT, FAINT, FAILED = "#2b2b2b", "#6b6b6b", "#999999", "#dcdcdc", "#a4001d"
PLAIN = FuncFormatter(lambda value, _: f"{value:g}")


class Page:
    """A figure addressed in inches from its top left corner; its height is set last, by `cut`."""

    def __init__(self, width: float = WIDTH):
        self.width = width
        self.figure = Figure(figsize=(width, width), dpi=DPI, facecolor="white")
        self.renderer = FigureCanvasAgg(self.figure).get_renderer()
        self.from_top = self.figure.dpi_scale_trans + ScaledTranslation(0, 1, self.figure.transFigure)
        self.frames = []

    def frame(self, x: float, y: float, width: float, height: float):
        """Axes at that place, with no spine but the lower one."""
        axes = self.figure.add_axes((0, 0, 1, 1))
        self.frames.append((axes, x, y, width, height))
        for side in ("left", "right", "top"):
            axes.spines[side].set_visible(False)
        axes.spines["bottom"].set(color=MUTED, linewidth=0.6)
        axes.tick_params(axis="x", color=MUTED, labelcolor=MUTED, labelsize=SMALL, length=2.5, width=0.6, pad=2)
        axes.set_yticks([])
        axes.patch.set_visible(False)
        return axes

    def text(self, x: float, y: float, text: str, size: float = NORMAL, color: str = INK, **style) -> None:
        """One line, its first letter's baseline at (x, y)."""
        self.figure.text(x, -y, text, transform=self.from_top, fontsize=size, color=color, **style)

    def lines(self, x: float, y: float, lines: Iterable[str], size: float = NORMAL, **style) -> float:
        """Lines below one another, the first baseline at y; the y of the line after them."""
        for line in lines:
            self.text(x, y, line, size, **style)
            y += line_height(size)
        return y

    def rule(self, x0: float, x1: float, y: float) -> None:
        line = Line2D([x0, x1], [-y, -y], transform=self.from_top, color=FAINT, linewidth=0.7)
        self.figure.add_artist(line)

    def wrap(self, text: str, width: float, size: float = NORMAL, weight: str = "normal") -> list[str]:
        """The text as lines no wider than `width`; a word that is wider is broken."""
        if self._width(text, size, weight) <= width:
            return [text] if text else []
        lines = [""]
        for word in text.split():
            longer = f"{lines[-1]} {word}".strip()
            if self._width(longer, size, weight) <= width:
                lines[-1] = longer
                continue
            while self._width(word, size, weight) > width:
                fits = self._fitting(word, width, size, weight)
                lines.append(word[:fits])
                word = word[fits:]
            lines.append(word)
        return [line for line in lines if line]

    def _fitting(self, word: str, width: float, size: float, weight: str) -> int:
        """How many letters of the word fit, at least one."""
        lengths = range(1, len(word) + 1)
        return max(1, bisect_right(lengths, width, key=lambda length: self._width(word[:length], size, weight)))

    def _width(self, text: str, size: float, weight: str) -> float:
        font = FontProperties(family=STYLE["font.family"], size=size, weight=weight)
        return self.renderer.get_text_width_height_descent(text, font, ismath=False)[0] / DPI

    def cut(self, height: float) -> None:
        self.figure.set_size_inches(self.width, height)
        for axes, x, y, width, tall in self.frames:
            axes.set_position((x / self.width, 1 - (y + tall) / height, width / self.width, tall / height))


def write(path: Path, compose: Callable[[], Figure]) -> Path:
    """Write what `compose` draws as a PNG, whole or not at all; the same picture gives the same bytes."""
    with matplotlib.style.context(STYLE, after_reset=True):  # a reader's own matplotlibrc must not move a byte
        png = io.BytesIO()
        compose().savefig(png, format="png", metadata={"Software": None})
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(png.getvalue())
        os.replace(unfinished, path)
    except OSError as error:
        if unfinished.exists():
            unfinished.unlink()
        raise Refusal(f"cannot write the picture {path}: {error.strerror}") from error
    return path


def line_height(size: float) -> float:
    return 1.35 * size / 72


def panel_title(
    page: Page, top: float, title: str, explanation: str, right: float | None = None, body: float = BODY
) -> float:
    """right: where the rule ends, if not at the page's margin. body: where the explanation begins."""
    page.rule(LEFT, right or page.width - LEFT, top - 0.2)
    page.text(LEFT, top, title, HEADING, weight="bold")
    page.text(body, top, explanation, color=MUTED)
    return top + line_height(HEADING)
