"""A of the GEMM given in f32: how a tile of it becomes f16 on its way into shared memory. Source: seed 000, §3.2, §3.3.

sync     v1: a thread loads its elements of the next tile, waits for them, rounds them and stores f16.
mirror   v2: cp.async brings the next tile as it is into a mirror in shared memory; the step that reads it rounds it.

A thread rounds those chunks of the mirror that it copied itself. Its own wait makes them visible to it, so the rounding
stands between the wait and the barrier that every step has anyway, and that barrier shows the f16 to the other warps.
So neither scheme adds a barrier: the buffer that is written was last read before the barrier of the previous step. And
one mirror serves both buffers, since a thread has read its chunks before it starts the copies that replace them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from numba import cuda
from numba.cuda.types import float32, uint32

from playground.kernels.layout import Region, SharedLayout
from playground.kernels.staging import HALF, Staging, chunks_of, stage_rows
from playground.ptx import cp_async
from playground.ptx.device_function import device_function
from playground.ptx.memory import load_global_v4_f32, load_shared_v4_f32, store_shared_v2, store_shared_v4

FLOAT = 4
VECTOR = 4
SCHEMES = ("none", "sync", "mirror")


@dataclass(frozen=True)
class Arrival:
    """How A gets to shared memory as f16.

    stage: starts it, as Staging's does; lands: the offset of where to, and the bytes from one buffer to the next there.
    convert: `convert(tile, landed)` ends it, between a thread's wait and the barrier after it.
    """

    stage: Callable
    lands: tuple[int, int]
    convert: Callable


def with_mirror(AF32: str, columns: int, A: Region, B: Region, C: Region) -> SharedLayout:
    """The regions of the GEMM's layout, with that of the f32 tile where the scheme has one.

    C takes its place when the loop is over: the last barrier of the loop stands behind the last reads of the mirror.
    """
    if AF32 != "mirror":
        return SharedLayout(A, B, C)
    _, rows, _ = A.shape
    return SharedLayout(A, B, Region("mirror", (rows, columns), FLOAT), replace(C, reuses="mirror"))


def arrival(AF32: str, copies: Staging, layout: SharedLayout, columns: int, threads: int) -> Arrival:
    """Of tiles of `columns` in the region A of `layout`; `copies`: what stages them where they are f16 already."""
    tile = layout["A"]
    _, rows, _ = tile.shape
    buffer_bytes, row_bytes, _ = tile.strides
    if AF32 == "none":
        return Arrival(copies.stage, (tile.offset, buffer_bytes), arrived)
    if AF32 == "sync":
        rounded = rounding_copy(copies.pack)
        stage = stage_rows(rows, columns, row_bytes, threads, rounded, source_bytes=FLOAT)
        return Arrival(stage, (tile.offset, buffer_bytes), arrived)
    landing = layout["mirror"]
    mirror_row = landing.strides[0]
    stage = stage_rows(rows, columns, mirror_row, threads, cp_async.copy_16, VECTOR, source_bytes=FLOAT, bytes=FLOAT)
    convert = convert_rows(rows, columns, row_bytes, mirror_row, threads, copies.pack)
    return Arrival(stage, (landing.offset, 0), convert)


@device_function
def arrived(tile, landed):
    pass  # a docstring alone would not do: Numba looks for a statement after it


def rounding_copy(pack):
    """A device function: 8 f32 from global memory as 16 bytes of f16, or as zeros if `source_bytes` is 0."""

    @device_function
    def copy(destination, source, source_bytes):
        low = cuda.local.array(VECTOR, float32)
        high = cuda.local.array(VECTOR, float32)
        words = cuda.local.array(4, uint32)
        for element in range(VECTOR):
            low[element] = float32(0)
            high[element] = float32(0)
        if source_bytes > 0:
            load_global_v4_f32(low, source)
            load_global_v4_f32(high, source + VECTOR * FLOAT)
        for word in range(2):
            words[word] = pack(low[2 * word], low[2 * word + 1])
            words[2 + word] = pack(high[2 * word], high[2 * word + 1])
        store_shared_v4(destination, words)

    return copy


def convert_rows(rows: int, columns: int, row_bytes: int, mirror_row: int, threads: int, pack):
    """A device function: `convert(tile, landed)`: each thread rounds the chunks of the mirror that it copied itself."""
    turns, mine = chunks_of(rows, columns, VECTOR, threads)

    @device_function
    def convert(tile, landed):
        values = cuda.local.array(VECTOR, float32)
        words = cuda.local.array(2, uint32)
        for turn in range(turns):
            row, column, there = mine(turn)
            if there:
                load_shared_v4_f32(values, landed + row * mirror_row + column * FLOAT)
                for word in range(2):
                    words[word] = pack(values[2 * word], values[2 * word + 1])
                store_shared_v2(tile + row * row_bytes + column * HALF, words)

    return convert
