"""Staging: the block copies a tile of rows from global to shared memory, 16 bytes per thread and turn."""

from collections.abc import Callable
from dataclasses import dataclass

from numba import cuda
from numba.cuda.types import int32, uint32

from playground.ptx import cp_async
from playground.ptx.convert import pack_f16_pair, pack_f16x2
from playground.ptx.device_function import device_function
from playground.ptx.integer import udiv, urem
from playground.ptx.memory import load_global_v4, store_shared_v4

CHUNK = 8
HALF = 2


@dataclass(frozen=True)
class Staging:
    """How a tile gets to shared memory. stage: starts it. wait_1, wait_0: all but the latest, and all, have landed.

    pack: two f32 to f16x2, as the architectures can that this is for, from minimum_cc on.
    """

    stage: Callable
    commit: Callable
    wait_1: Callable
    wait_0: Callable
    pack: Callable
    minimum_cc: tuple[int, int]


def asynchronous(rows: int, columns: int, row_bytes: int, threads: int) -> Staging:
    """By cp.async: sm_80 and later."""
    stage = stage_rows(rows, columns, row_bytes, threads, cp_async.copy_16)
    return Staging(stage, cp_async.commit, _wait_1, _wait_0, pack_f16x2, minimum_cc=(8, 0))


def synchronous(rows: int, columns: int, row_bytes: int, threads: int) -> Staging:
    """By loads and stores, which are done when the next barrier is passed: any architecture."""
    stage = stage_rows(rows, columns, row_bytes, threads, copy_16)
    return Staging(stage, _nothing, _nothing, _nothing, pack_f16_pair, minimum_cc=(7, 5))


STAGING = {"async": asynchronous, "sync": synchronous}


@device_function
def _wait_1():
    cp_async.wait_group(1)


@device_function
def _wait_0():
    cp_async.wait_group(0)


@device_function
def _nothing():
    pass


@device_function
def copy_16(destination, source, source_bytes):
    """What cp_async.copy_16 does, at once. `source_bytes`: 16 or 0."""
    words = cuda.local.array(4, uint32)
    for word in range(4):
        words[word] = 0
    if source_bytes > 0:
        load_global_v4(words, source)
    store_shared_v4(destination, words)


def stage_rows(
    rows: int,
    columns: int,
    row_bytes: int,
    threads: int,
    copy,
    chunk: int = CHUNK,
    source_bytes: int = HALF,
    bytes: int = HALF,
):
    """A device function: `stage(tile, matrix, first_row, matrix_rows, first_column, matrix_columns)`.

    Starts the copies of a rows × columns tile from a row-major matrix into `tile` (shared window), whose rows are
    `row_bytes` apart; all `threads` of the block take part. What lies outside the matrix arrives as zeros. columns and
    matrix_columns are multiples of `chunk` elements, which `copy` takes at a time: a chunk is inside or outside as a
    whole. source_bytes, bytes: of an element in the matrix and in the tile.
    """
    turns, mine = chunks_of(rows, columns, chunk, threads)

    @device_function
    def stage(tile, matrix, first_row, matrix_rows, first_column, matrix_columns):
        for turn in range(turns):
            row, column, there = mine(turn)
            if there:
                # Narrowed, or the comparisons are of 64 bits and cost the GEMM 4 to 6 registers.
                inside = int32(first_row + row) < matrix_rows and int32(first_column + column) < matrix_columns
                copy(
                    tile + row * row_bytes + column * bytes,
                    matrix + ((first_row + row) * matrix_columns + first_column + column) * source_bytes,
                    16 if inside else 0,
                )

    return stage


def chunks_of(rows: int, columns: int, chunk: int, threads: int):
    """(turns, mine): a rows × columns tile in chunks of a row, one per thread and turn.

    mine: a device function, `row, column, there = mine(turn)`: where this thread's chunk begins, if it has one.
    """
    per_row = columns // chunk
    chunks = rows * per_row
    turns = -(-chunks // threads)

    @device_function
    def mine(turn):
        number = turn * threads + cuda.threadIdx.x
        there = turns * threads == chunks or number < chunks
        return udiv(number, per_row), urem(number, per_row) * chunk, there

    return turns, mine
