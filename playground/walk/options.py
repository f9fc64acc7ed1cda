"""How a probe is run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from playground.kernels import Kernel
from playground.shapes import Shape

ROUNDS = 100
QUICK_ROUNDS = 24


@dataclass(frozen=True)
class Options:
    """How to run: the device or None, the rounds of timing, shapes and seed instead of the probe's own.

    wall: measures whole prefills, given the kernels and Narrator.progress (see prefill/swap.py); None: not wanted.
    """

    device: object | None
    rounds: int = ROUNDS
    shapes: Sequence[Shape] | None = None
    seed: int | None = None
    wall: Callable[[Sequence[Kernel], Callable], dict] | None = None
