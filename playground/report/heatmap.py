"""A picture of a kernel's source in which the lines that cost most are hot."""

from pathlib import Path

from playground.emulator.counts import Counts
from playground.errors import Refusal

LINE_INCHES = 0.19
WIDTH_INCHES = 11
TEXT_WIDTH = 110


def heatmap(counts: Counts, metric: str = "inst_executed", file: str | None = None):
    """A matplotlib Figure: the source from the first to the last line that was executed, coloured by a count.

    metric: a name that `Counts.summarise` gives. file: which source file, the one with the largest sum if not given.
    """
    from matplotlib import colormaps  # late: counting by line needs no plotting
    from matplotlib.figure import Figure

    values = values_by_line(counts, metric)
    file = file or max({name for name, _ in values}, key=lambda name: _sum(values, name))
    own = {line: value for (name, line), value in values.items() if name == file and line}
    if not own:
        raise Refusal(f"no line of {file} was executed: there is nothing to draw")
    source = _source(file)
    first, last = min(own), max(own)
    hottest = max(own.values()) or 1
    figure = Figure(figsize=(WIDTH_INCHES, 0.8 + LINE_INCHES * (last - first + 1)), layout="constrained")
    axes = figure.subplots()
    colours = colormaps["YlOrRd"]
    for line in range(first, last + 1):
        value = own.get(line, 0)
        if value:
            axes.barh(line, 1, height=1, color=colours(0.75 * value / hottest), linewidth=0)
        text = source[line - 1][:TEXT_WIDTH] if line <= len(source) else ""
        axes.text(0.005, line, f"{line:4}  {text}", family="monospace", size=7, va="center", parse_math=False)
        if value:
            axes.text(0.995, line, f"{value:,.6g}", family="monospace", size=7, va="center", ha="right")
    axes.set(xlim=(0, 1), ylim=(last + 0.5, first - 0.5), xticks=[], yticks=[])
    axes.set_title(f"{Path(file).name}: {metric} by line", size=9, loc="left")
    return figure


def values_by_line(counts: Counts, metric: str) -> dict[tuple[str, int], int | float]:
    """(file, line) -> one of the numbers that `Counts.summarise` gives."""
    by_line = counts.by_line()
    known = set().union(*by_line.values())
    if metric not in known:
        raise Refusal(f"there is no count {metric!r}; there are {', '.join(sorted(known))}")
    return {place: numbers.get(metric, 0) for place, numbers in by_line.items()}


def _sum(values, file: str):
    return sum(value for (name, _), value in values.items() if name == file)


def _source(file: str) -> list[str]:
    path = Path(file)
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
