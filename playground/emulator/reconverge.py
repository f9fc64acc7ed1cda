"""Where parted lanes meet again: at the nearest block that every way out of the branch passes, its post-dominator.

ptxas places reconvergence there, wherever the compiler laid the blocks. Running the block with the most post-dominators
first gets there: on the way to the meeting point every block has that point, and all that follow it, among its own.
"""

import numpy as np


def post_dominators(successors: list[tuple[int, ...]]) -> np.ndarray:
    """int64 (blocks,): how many blocks lie on every way from each block to the end, itself included.

    successors: per block the blocks that may come next; a number past the last block is the end.
    """
    count = len(successors)
    every = (1 << count) - 1
    passed = [every] * count + [0]
    changed = True
    while changed:
        changed = False
        for block in reversed(range(count)):
            common = every
            for successor in successors[block]:
                common &= passed[min(successor, count)]
            common |= 1 << block
            changed |= common != passed[block]
            passed[block] = common
    return np.array([each.bit_count() for each in passed[:count]], np.int64)
