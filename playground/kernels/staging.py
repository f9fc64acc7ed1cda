"""Staging: the block copies a tile of rows from global to shared memory with cp.async, 16 bytes per thread and turn."""

from numba import cuda

from playground.ptx import cp_async
from playground.ptx.device_function import device_function
from playground.ptx.integer import udiv, urem

CHUNK = 8
HALF = 2


def stage_rows(rows: int, columns: int, row_bytes: int, threads: int):
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
                inside = first_row + row < matrix_rows and first_column + column < matrix_columns
                cp_async.copy_16(
                    tile + row * row_bytes + column * HALF,
                    matrix + ((first_row + row) * matrix_columns + first_column + column) * HALF,
                    16 if inside else 0,
                )

    return stage
