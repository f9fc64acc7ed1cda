"""Do an f32 accumulator and an f16 row-major A operand put the same element in the same lane?  (source: GB10, they do)

Runs on the emulator, and on the GPU if there is one. Exit status 1 if any map is not the formula's.
"""

import sys
from collections.abc import Sequence

import numpy as np

from playground.command import Parser, refusing
from playground.compiler.arch import arch_named
from playground.compiler.build import build
from playground.emulator.workspace import EmulatedWorkspace
from playground.kernels.lane_maps import LANES, SIZE, lane_maps
from playground.recording import add_record_options, run_recorded
from playground.report import environment
from playground.report.tables import check_line
from playground.runner import Outcome

ELEMENTS = 8
EMULATED_ON = "H200"


def formula() -> np.ndarray:
    """Which element, as 16 · row + column, is in [lane, place]. Source: seed 001, §2 "4-lane row groups"."""
    lane, place = np.arange(LANES)[:, None], np.arange(ELEMENTS)
    row = (lane >> 2) + 8 * (place >> 1 & 1)
    column = 2 * (lane & 3) + (place & 1) + 8 * (place >> 2)
    return SIZE * row + column


def inputs() -> dict[str, np.ndarray]:
    """Every element is its own index, exact in f16; times the identity it is the same in f32."""
    values = np.arange(SIZE**2, dtype=np.float16).reshape(SIZE, SIZE)
    return {"values": values, "identity": np.eye(SIZE, dtype=np.float16)}


def dump_of(outcome: Outcome) -> dict:
    """The maps that a run found, [lane][place] -> 16 · row + column, and each check by name."""
    halves = outcome.outputs["operand"].view(np.float16)
    operand, accumulator = (_indices(values) for values in (halves, outcome.outputs["accumulator"]))
    first, repeated = operand[:, :ELEMENTS], operand[:, ELEMENTS:]
    checks = {
        "the accumulator is the formula's": np.array_equal(accumulator, formula()),
        "the A operand is the formula's": np.array_equal(first, formula()),
        "both agree, place by place": np.array_equal(first, accumulator),
        "the operand's registers 4 to 7 repeat 0 to 3": np.array_equal(repeated, first),
        "no hazard, nothing written outside": not outcome.hazards and not outcome.written_outside,
    }
    return {"operand": operand.tolist(), "accumulator": accumulator.tolist(), "checks": checks}


def make_record(device, out) -> dict:
    """Run on the emulator, and on `device` if it is one; print what is found to `out`."""
    kernel = lane_maps()
    built = build(kernel, device.arch if device else arch_named(EMULATED_ON))
    dumps = {"emulator": dump_of(EmulatedWorkspace(kernel.contract, inputs()).run(built))}
    if device:
        from playground.gpu.workspace import Workspace

        with Workspace(device, kernel.contract, inputs()) as workspace:
            dumps[device.name] = dump_of(workspace.run(built))
    for runner, dump in dumps.items():
        out.print(as_text(runner, dump))
    return {
        "probe": "lane_maps",
        **environment.of_run(device, {"cuda": built.toolkit}),
        "dumps": dumps,
    }


def agrees(record: dict) -> bool:
    """Whether every check held on every runner."""
    return all(all(dump["checks"].values()) for dump in record["dumps"].values())


def as_text(runner: str, dump: dict) -> str:
    """Both maps as 16 lines of lane.place, and the checks."""
    maps = (("A operand, f16, row-major", "operand"), ("accumulator, f32", "accumulator"))
    lines = [line for title, name in maps for line in (f"\n{title}, on the {runner}: lane.place", *_grid(dump[name]))]
    checks = (check_line(*check) for check in dump["checks"].items())
    return "\n".join([*lines, "", *checks])


@refusing
def main(arguments: Sequence[str] | None = None) -> int:
    parser = Parser(prog="python -m experiments.lane_maps", description=__doc__)
    add_record_options(parser)
    return run_recorded("lane_maps", parser.parse_args(arguments), make_record, agrees)


def _indices(values: np.ndarray) -> np.ndarray:
    """Values as whole numbers; -1 for what is none."""
    with np.errstate(invalid="ignore"):
        whole = np.isfinite(values) & (values == np.round(values))
    return np.where(whole, values, -1).astype(int)


def _grid(held: list[list[int]]) -> list[str]:
    """The matrix with lane.place in each element's stead; "?" where no lane holds it."""
    owner = {index: f"{lane}.{place}" for lane, row in enumerate(held) for place, index in enumerate(row[:ELEMENTS])}
    rows = ([owner.get(SIZE * row + column, "?") for column in range(SIZE)] for row in range(SIZE))
    return [f"row {row:2}" + "".join(f"{cell:>6}" for cell in cells) for row, cells in enumerate(rows)]


if __name__ == "__main__":
    sys.exit(main())
