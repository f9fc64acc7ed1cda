"""From the stamps of all blocks to a rate."""

import numpy as np

from playground.kernels.rates.stamps import CYCLES, NANOSECONDS, SM


def per_cycle_and_sm(stamps: np.ndarray, work: int) -> float:
    """Work per cycle of a block that has its SM to itself, over all blocks."""
    return work / float(np.diff(stamps[:, CYCLES]).sum())


def per_second(stamps: np.ndarray, work: int) -> float:
    """Work of all blocks from the first one's begin to the last one's end."""
    begin, end = stamps[:, NANOSECONDS].T
    return work * 1e9 / float(end.max() - begin.min())


def seconds_each(stamps: np.ndarray, work: int) -> float:
    """Time per unit of work."""
    return 1 / per_second(stamps, work)


def hertz(stamps: np.ndarray) -> float:
    """Cycles per second while the blocks ran, over all blocks."""
    return 1e9 * float(np.diff(stamps[:, CYCLES]).sum()) / float(np.diff(stamps[:, NANOSECONDS]).sum())


def one_block_per_sm(stamps: np.ndarray) -> bool:
    """Whether no two blocks were on one SM."""
    return len(np.unique(stamps[:, SM])) == len(stamps)
