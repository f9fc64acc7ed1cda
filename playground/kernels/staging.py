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


def stage_rows(rows: int, columns: int, row_bytes: int, threads: int, copy):
    """A device function: `stage(tile, matrix, first_row, matrix_rows, first_column, matrix_columns)`.

    Starts the copies of a rows × columns tile of f16 from a row-major matrix into `tile` (shared window), whose rows
    are `row_bytes` apart; all `threads` of the block take part. What lies outside the matrix arrives as zeros. columns
    and matrix_columns are multiples of 8 halves: a chunk of 16 bytes is inside or outside as a whole.
    """
    chunks_per_row = columns // CHUNK
    chunks = rows * chunks_per_row
    turns = -(-chunks // threads)

    @device_function
    def stage(tile, matrix, first_row, matrix_rows, first_column, matrix_columns):
        for turn in range(turns):
            chunk = turn * threads + cuda.threadIdx.x
            row = udiv(chunk, chunks_per_row)
            column = urem(chunk, chunks_per_row) * CHUNK
            if turns * threads == chunks or chunk < chunks:
                # Narrowed, or the comparisons are of 64 bits and cost the GEMM 4 to 6 registers.
                inside = int32(first_row + row) < matrix_rows and int32(first_column + column) < matrix_columns
                copy(
                    tile + row * row_bytes + column * HALF,
                    matrix + ((first_row + row) * matrix_columns + first_column + column) * HALF,
                    16 if inside else 0,
                )

    return stage
