"""Threads and grids of the elementwise kernels, and what they cannot index."""

import math

from playground.errors import Refusal

THREADS = 256
GRID_Y = 65_535


def flat_grid(elements: int, per_block: int) -> tuple[int, int, int]:
    """Blocks in a row over all elements."""
    return -(-elements // per_block), 1, 1


def row_grid(rows: int, length: int, per_block: int) -> tuple[int, int, int]:
    """x runs over the rows, y along each."""
    return rows, -(-length // per_block), 1


def too_large(**dims: int) -> str | None:
    """The complaint about an array of these dimensions, or None: int32 must count its elements."""
    elements = math.prod(dims.values())
    if elements < 2**31:
        return None
    return f"{' × '.join(f'{name} = {length}' for name, length in dims.items())} are {elements} elements, over int32"


def too_long(threads: int, **dim: int) -> str | None:
    """The complaint about a row that a grid's y cannot cover with one element per thread, or None."""
    ((name, length),) = dim.items()
    if length <= threads * GRID_Y:
        return None
    return f"{name} = {length} is over {threads * GRID_Y}: a grid's y has {GRID_Y} blocks, here of {threads} threads"


def check_choice(kernel: str, name: str, value, known: tuple) -> None:
    """Refuse a parameter that is not one of those known."""
    if value not in known:
        raise Refusal(f"{kernel}: {name} = {value!r} is not one of {', '.join(map(str, known))}")
