"""From the stamps of all warps [blocks, warps, 5] to a rate: a block's time is from its first begin to its last end."""

import numpy as np

from playground.kernels.rates.stamps import CYCLES, NANOSECONDS, SM


def per_cycle_and_sm(stamps: np.ndarray, work: int) -> float:
    """Work per cycle of a block that has its SM to itself, over all blocks."""
    return work / _taken(stamps[..., CYCLES])


def per_second(stamps: np.ndarray, work: int) -> float:
    """Work of all blocks from the first one's begin to the last one's end."""
    begin, end = np.moveaxis(stamps[..., NANOSECONDS], -1, 0)
    return work * 1e9 / float(end.max() - begin.min())


def seconds_each(stamps: np.ndarray, work: int) -> float:
    """Time per unit of work."""
    return 1 / per_second(stamps, work)


def hertz(stamps: np.ndarray) -> float:
    """Cycles per second while the blocks ran, over all blocks."""
    return 1e9 * _taken(stamps[..., CYCLES]) / _taken(stamps[..., NANOSECONDS])


def one_block_per_sm(stamps: np.ndarray) -> bool:
    """Whether no two blocks were on one SM."""
    return len(np.unique(stamps[:, 0, SM])) == len(stamps)


def _taken(stamps: np.ndarray) -> float:
    """Of begin and end [blocks, warps, 2]: the times of all blocks together."""
    begin, end = np.moveaxis(stamps, -1, 0)
    return float((end.max(axis=1) - begin.min(axis=1)).sum())
