"""Blocks that run at the same time: their shared and local memory, and what their barriers have ordered."""

import numpy as np

from playground.emulator.barriers import Waiting
from playground.emulator.group import Group
from playground.emulator.local_memory import LocalMemory
from playground.emulator.order import Order
from playground.emulator.races import Judge
from playground.emulator.shared_memory import SharedMemory


class Chunk:
    """blocks: int64 (slots,), linear block numbers. Lanes are numbered through; blocks are padded to whole warps."""

    def __init__(self, launch, blocks):
        self.launch = launch
        self.blocks = blocks
        self.lanes_per_block = launch.lanes_per_block
        lanes = len(blocks) * self.lanes_per_block
        self.missing = np.arange(lanes) % self.lanes_per_block >= launch.threads
        self.shared = SharedMemory(launch.shared_bytes, len(blocks), launch.shared_cell, launch.checks)
        self.local = LocalMemory(launch.program.local_bytes, lanes)
        self.fenced = np.zeros(len(blocks), bool)
        self.waiting = Waiting(lanes)
        self.reduced = np.zeros(lanes, np.int64)
        self.arrivals: dict[tuple[int, int], int] = {}
        self.order = Order(len(blocks), self.lanes_per_block // 32)
        self.partial = False
        self.judge = Judge(self)

    def groups(self, by_warp: bool) -> list[Group]:
        lanes = np.arange(len(self.missing))
        parts = lanes.reshape(-1, 32) if by_warp else [lanes]
        return [Group(self, part, self.launch.program.initial_registers()) for part in parts]

    @property
    def releases(self) -> int:
        return self.order.releases

    def settle(self):
        """Everything so far is ordered before everything to come: judge the accesses since the last time."""
        self.shared.settle(self.judge)
        self.order.start()
        self.partial = False

    def ordered(self, table, first, second):
        return self.order.before(table, first, second)

    def warps_in_block(self, lanes):
        return np.unique(lanes % self.lanes_per_block >> 5)

    def report(self, kind: str, instruction: int, lanes, detail: str = ""):
        """A hazard of these lanes of the chunk."""
        self.launch.hazards.report(
            kind,
            instruction,
            self.blocks[lanes // self.lanes_per_block],
            lanes % self.lanes_per_block >> 5,
            lanes & 31,
            detail,
        )
