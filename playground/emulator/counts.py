"""What a profiler would count: instructions, barriers, MMAs, wavefronts, sectors, bytes; in all and by Python line."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from playground.emulator.classify import classify, flop, traffic
from playground.emulator.patterns import SECTOR_BYTES, Patterns

LINE_BYTES = 128
SHARED_BITS = 32

COLUMNS = (
    "inst_executed",
    "thread_inst_executed",
    "branch_divergent",
    "shared_wavefronts",
    "shared_wavefronts_ideal",
    "shared_bytes",
    "global_sectors",
    "global_bytes",
)


class Counts:
    """Filled while a kernel runs. Table columns are int64 (instructions,), one entry per PTX instruction."""

    def __init__(self, instructions, blocks):
        self.instructions = instructions
        self.blocks = blocks
        self.patterns = Patterns()
        self.executed = np.zeros(len(blocks), np.int64)
        self.threads = np.zeros(len(blocks), np.int64)
        self.table = {name: np.zeros(len(instructions), np.int64) for name in COLUMNS}
        self.barriers_at = np.zeros(len(instructions), np.int64)

    def shared(self, group, instruction: int, lanes, offsets, size: int):
        """An access of `size` bytes per lane, at byte offsets (n,)."""
        addresses, active = group.by_warp(lanes, offsets)
        self.shared_rows(instruction, addresses, active, size, len(offsets) * size)

    def shared_rows(self, instruction: int, addresses, active, size: int, moved: int):
        wavefronts, ideal = self.patterns.wavefronts(addresses, active, size)
        self.table["shared_wavefronts"][instruction] += wavefronts
        self.table["shared_wavefronts_ideal"][instruction] += ideal
        self.table["shared_bytes"][instruction] += moved

    def global_(self, group, instruction: int, lanes, offsets, size: int):
        sectors, touched = self.patterns.sectors(*group.by_warp(lanes, offsets), size)
        self.table["global_sectors"][instruction] += sectors
        self.table["global_bytes"][instruction] += touched

    def copied(self, group, instruction: int, lanes, offsets, destinations, size: int):
        """A cp.async: sectors are fetched for each 128-byte line apart, and for each sector of shared memory it fills.

        Measured on an H200: where every second row of 64 bytes begins in the middle of a shared sector, 5 are fetched
        for 4, and of 256 bytes 9 for 8 (results/nvidia-h200/emulator_agreement.md).
        """
        sectors, touched = self.patterns.sectors(*group.by_warp(lanes, offsets), size)
        filled = (offsets // LINE_BYTES << SHARED_BITS) + destinations
        fetched, _ = self.patterns.sectors(*group.by_warp(lanes, filled), size)
        self.table["global_sectors"][instruction] += max(sectors, fetched)
        self.table["global_bytes"][instruction] += touched

    def finish(self):
        """Spread the executions of basic blocks over their instructions."""
        for block, warps, threads in zip(self.blocks, self.executed, self.threads):
            self.table["inst_executed"][block.first : block.last] = warps
            self.table["thread_inst_executed"][block.first : block.last] = threads

    def total(self) -> dict[str, int | float]:
        """All counts as plain numbers under profiler-like names; see `summarise`."""
        return self.summarise(range(len(self.instructions)))

    def by_line(self) -> dict[tuple[str, int], dict[str, int | float]]:
        """(file, line) -> the same counts, of the instructions that came from that Python line."""
        places = defaultdict(list)
        for index, instruction in enumerate(self.instructions):
            places[instruction.file, instruction.line].append(index)
        return {place: self.summarise(indices) for place, indices in sorted(places.items())}

    def summarise(self, indices) -> dict[str, int | float]:
        """Counts of some instructions.

        inst_executed: per warp; thread_inst_executed: per lane that was active. barriers: per block. *_wavefronts:
        trips through the 32 banks, *_ideal without conflicts; conflict_degree: their ratio. *_sectors: 32 bytes each,
        counted once per warp and instruction; *_bytes: those of them that were asked for; *_utilisation: asked / moved.
        """
        indices = np.fromiter(indices, int)
        counts: dict[str, int | float] = {name: int(self.table[name][indices].sum()) for name in COLUMNS[:3]}
        counts["barriers"] = int(self.barriers_at[indices].sum())
        classes: dict[str, int] = defaultdict(int)
        moved: dict[str, int] = defaultdict(int)
        for index in indices:
            self._add(int(index), classes, moved)
        counts |= {f"inst_executed_{label}": number for label, number in sorted(classes.items())}
        counts |= {name: moved[name] for name in SUMS}
        return counts | ratios(counts)

    def _add(self, index: int, classes, moved):
        instruction = self.instructions[index]
        executed = int(self.table["inst_executed"][index])
        if not executed:
            return
        classes[classify(instruction)] += executed
        kind = traffic(instruction)
        for column in COLUMNS[3:]:
            space, _, what = column.partition("_")
            moved[f"{space}_{kind}_{what}"] += int(self.table[column][index])
        operations = flop(instruction)
        if operations:
            moved["mma_executed"] += executed
            moved["mma_flop"] += executed * operations
        if instruction.name == "ldmatrix":
            moved["ldmatrix_executed"] += executed
        if instruction.opcode[:2] == ("wmma", "load"):
            moved["wmma_load_executed"] += executed


def sum_of(totals: Sequence[Mapping[str, int | float]]) -> dict[str, int | float]:
    """The totals of several launches as those of one."""
    summed: dict[str, int | float] = defaultdict(int)
    for total in totals:
        told = ratios(total)
        for name in total:
            if name not in told:
                summed[name] += total[name]
    return dict(summed) | ratios(summed)


def ratios(counts: Mapping[str, int | float]) -> dict[str, float]:
    """What is told of the counts as a part of other counts."""
    conflicts = {
        f"shared_{kind}_conflict_degree": _ratio(
            counts[f"shared_{kind}_wavefronts"], counts[f"shared_{kind}_wavefronts_ideal"]
        )
        for kind in TRAFFIC
    }
    utilisations = {
        f"global_{kind}_utilisation": _ratio(
            counts[f"global_{kind}_bytes"], SECTOR_BYTES * counts[f"global_{kind}_sectors"]
        )
        for kind in TRAFFIC
    }
    return conflicts | utilisations


TRAFFIC = ("load", "store", "atomic", "cp_async")
SUMS = (
    "mma_executed",
    "mma_flop",
    "ldmatrix_executed",
    "wmma_load_executed",
    *(f"{column.split('_', 1)[0]}_{kind}_{column.split('_', 1)[1]}" for column in COLUMNS[3:] for kind in TRAFFIC),
)


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
