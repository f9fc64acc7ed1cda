"""Interleaved timing: every side in every round, each launch alone between two events and after a sweep of L2.

A round launches each side once. The orders form a Williams design, mirrored in every second turn: each side stands in
each place, and right behind each other side, equally often. The sweep reads four times the size of L2
(kernels/l2_sweep): it leaves the cache cold, and it keeps the GPU busy while the CPU enqueues what follows, so the
events enclose the kernel and not the CPU. Nothing is dropped: every round is in the samples.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from cuda.bindings import driver

from playground.compiler.build import build
from playground.gpu.buffer import Buffer
from playground.gpu.device import Device
from playground.gpu.driver import call
from playground.gpu.program import Program
from playground.kernels.l2_sweep import BLOCKS, THREADS, l2_sweep

SWEEP_SIZE = 4
FLOAT = 4
WARM_UP_ROUNDS = 5


def rounds_for(sides: int, wanted: int) -> int:
    """The least number of rounds from `wanted` up in which the orders come out even."""
    cycle = 2 * sides
    return -(-wanted // cycle) * cycle


def order(sides: int, round_number: int) -> list[int]:
    """The order of the sides in that round."""
    zigzag = [-place // 2 if place % 2 == 0 else (place + 1) // 2 for place in range(sides)]
    places = [(side + round_number) % sides for side in zigzag]
    return places[::-1] if round_number // sides % 2 else places


class Stopwatch:
    """Times launches on a device. `with` frees the sweep's memory at the end."""

    def __init__(self, device: Device):
        self.device = device
        length = -(-SWEEP_SIZE * device.l2 // FLOAT // (THREADS * BLOCKS)) * THREADS * BLOCKS
        self.swept, self.sink = Buffer(device, (length,), "float32"), Buffer(device, (1,), "float32")
        program = Program(build(l2_sweep(), device.arch), device)
        self.sweep = program.launcher([self.swept.address, self.sink.address], {"n": length})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.swept.free()
        self.sink.free()

    def measure(
        self, sides: Mapping[str, Callable[[], None]], rounds: int, progress: Callable[[], None] = lambda: None
    ) -> dict[str, np.ndarray]:
        """Microseconds per side and round, in the order of the rounds. `sides`: functions that enqueue one launch."""
        names, launches = list(sides), list(sides.values())
        events = [(_event(), _event()) for _ in names]
        samples = np.empty((len(names), rounds))
        for round_number in range(-WARM_UP_ROUNDS, rounds):
            for side in order(len(names), round_number % rounds):
                start, stop = events[side]
                self.sweep()
                call(driver.cuEventRecord, start, self.device.stream)
                launches[side]()
                call(driver.cuEventRecord, stop, self.device.stream)
            self.device.synchronize()
            if round_number >= 0:
                samples[:, round_number] = [1000 * call(driver.cuEventElapsedTime, *pair) for pair in events]
                progress()
        for pair in events:
            for event in pair:
                call(driver.cuEventDestroy, event)
        return dict(zip(names, samples))


def as_record(samples: Mapping[str, np.ndarray], digits: int = 3) -> dict[str, list[float]]:
    """Samples as they go into a record: side -> microseconds, of which so many digits behind the point."""
    return {side: [round(float(value), digits) for value in values] for side, values in samples.items()}


def laps(device: Device, launches: Sequence[Callable[[], None]], head_start: Callable[[], None]) -> np.ndarray:
    """Microseconds of each of `launches`, one right behind the other.

    head_start: enqueues work that keeps the GPU busy until the CPU is far enough ahead never to be waited for.
    """
    events = [_event() for _ in range(len(launches) + 1)]
    head_start()
    call(driver.cuEventRecord, events[0], device.stream)
    for launch, event in zip(launches, events[1:]):
        launch()
        call(driver.cuEventRecord, event, device.stream)
    device.synchronize()
    times = [1000 * call(driver.cuEventElapsedTime, *pair) for pair in itertools.pairwise(events)]
    for event in events:
        call(driver.cuEventDestroy, event)
    return np.array(times)


def _event():
    return call(driver.cuEventCreate, driver.CUevent_flags.CU_EVENT_DEFAULT)
