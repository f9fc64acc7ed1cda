"""Threads and grids of the elementwise kernels, and what they cannot index."""

THREADS = 256
GRID_Y = 65_535


def flat_grid(elements: int, per_block: int) -> tuple[int, int, int]:
    """Blocks in a row over all elements."""
    return -(-elements // per_block), 1, 1


def row_grid(rows: int, length: int, per_block: int) -> tuple[int, int, int]:
    """x runs over the rows, y along each."""
    return rows, -(-length // per_block), 1


def too_long(threads: int, **dim: int) -> str | None:
    """The complaint about a row that a grid's y cannot cover with one element per thread, or None."""
    ((name, length),) = dim.items()
    if length <= threads * GRID_Y:
        return None
    return f"{name} = {length} is over {threads * GRID_Y}: a grid's y has {GRID_Y} blocks, here of {threads} threads"
