"""The work of a launch of any size, exactly, from small ones that are emulated.

Along one residue class of a kernel's period, its counts are a polynomial in each dimension, of the degree that the
contract states. So many small sizes fix it, and one more checks it; where the check fails, there is no answer.
"""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from playground.compiler.build import Build
from playground.emulator.workspace import EmulatedWorkspace
from playground.errors import Refusal
from playground.floors.polynomial import interpolate
from playground.floors.work import work_of
from playground.kernels.contract import Contract
from playground.kernels.kernel import Kernel

MakeInputs = Callable[[Contract, Mapping[str, int]], Mapping[str, np.ndarray]]


@dataclass(frozen=True)
class Axis:
    """One dimension, or the excess of one over the dimension that it moves with.

    at: the length that is asked for. samples: the lengths that are emulated for it. check: one more, to compare.
    """

    at: int
    samples: tuple[int, ...]
    check: int


class Extrapolation:
    """The work of one build at any dimensions; what was emulated is remembered. inputs: made for small dimensions."""

    def __init__(self, build: Build, inputs: MakeInputs):
        self.build, self.inputs = build, inputs
        self.contract = build.kernel.contract
        self.emulated: dict[tuple[int, ...], dict[str, int]] = {}

    def work(self, dims: Mapping[str, int]) -> dict[str, int]:
        """The work of a launch on `dims`; refused if the counts do not follow the polynomial."""
        axes = axes_of(self.build.kernel, dims)
        grid = tuple(axis.samples for axis in axes)
        points = {point: self._emulate(point) for point in itertools.product(*grid)}
        check = tuple(axis.check for axis in axes)
        if check not in points and (wrong := self._differences(grid, points, check)):
            raise Refusal(
                f"{self.build.kernel}: its counts at {self._dims(check)} are not what smaller ones tell: {wrong}"
            )
        return _interpolate_all(grid, points, tuple(axis.at for axis in axes))

    def _differences(self, grid, points, check) -> str:
        counted, told = self._emulate(check), _interpolate_all(grid, points, check)
        return ", ".join(
            f"{name} {counted[name]:,} for {told[name]:,}" for name in counted if counted[name] != told[name]
        )

    def _emulate(self, point: tuple[int, ...]) -> dict[str, int]:
        if point not in self.emulated:
            inputs = self.inputs(self.contract, self._dims(point))
            self.emulated[point] = work_of(
                EmulatedWorkspace(self.contract, inputs).report(self.build, checks=False).counts
            )
        return self.emulated[point]

    def _dims(self, point: tuple[int, ...]) -> dict[str, int]:
        own = dict(zip(self.contract.dimensions, point))
        return {name: length + own.get(self.contract.moves_with.get(name), 0) for name, length in own.items()}


def axes_of(kernel: Kernel, dims: Mapping[str, int]) -> list[Axis]:
    """An axis per dimension, in the contract's order."""
    if missing := [name for name in kernel.contract.dimensions if name not in kernel.period]:
        raise Refusal(f"{kernel}: it states no period of {', '.join(missing)}: its counts cannot be extrapolated")
    return [_axis(kernel, name, dims) for name in kernel.contract.dimensions]


def _axis(kernel: Kernel, name: str, dims: Mapping[str, int]) -> Axis:
    """Samples of the same residue, from one period up: a loop's first turns may differ from the rest."""
    contract, period = kernel.contract, kernel.period[name]
    leader = contract.moves_with.get(name)
    at = dims[name] - (dims[leader] if leader else 0)
    degree = contract.degrees.get(name, 1)
    first = at % period + (period if degree or not leader else 0)
    samples = tuple(first + turn * period for turn in range(degree + 1))
    if at <= samples[-1]:
        return Axis(at, (at,), at)
    return Axis(at, samples, samples[-1] + (period if degree else 0))


def _interpolate_all(grid, points: Mapping[tuple[int, ...], dict[str, int]], at) -> dict[str, int]:
    names = next(iter(points.values()))
    found = {name: interpolate(grid, {point: work[name] for point, work in points.items()}, at) for name in names}
    return {name: int(value) if value.denominator == 1 else value for name, value in found.items()}
