"""Softmax over scores in shared memory: S (f32) becomes P (f16) in place, m, l and the correction live beside it.

In place because a row of P takes half the bytes of the row of S that it replaces, and is written behind the reads.
"""

from numba import cuda, float32

from playground.kernels.attention.online import correction, logit_scale, weight
from playground.kernels.attention.queries import position_of, visible
from playground.ptx.convert import to_f16
from playground.ptx.device_function import device_function
from playground.ptx.memory import load_shared_f32, store_shared_f32, store_shared_u16
from playground.ptx.shuffle import butterfly

FLOAT, HALF = 4, 2


def serial_rows(TQ: int, TKV: int, hd: int, row_bytes: int, warps: int):
    """8n: one thread per row walks its TKV columns alone: of 8 warps 2 work, on serial chains."""
    scale = logit_scale(hd)

    @device_function
    def softmax(S, M, L, alpha, positions, first, nt, first_key, kv):
        row = cuda.threadIdx.x
        if row < TQ:
            position = position_of(positions, first + row, nt)
            scores = S + row * row_bytes
            maximum = load_shared_f32(M + row * FLOAT)
            old = maximum
            for column in range(TKV):
                if visible(first_key + column, position, kv):
                    maximum = max(maximum, load_shared_f32(scores + column * FLOAT) * scale)
            total = float32(0)
            for column in range(TKV):
                logit = load_shared_f32(scores + column * FLOAT) * scale
                p = weight(logit, maximum, visible(first_key + column, position, kv))
                store_shared_u16(scores + column * HALF, to_f16(p))
                total += p
            factor = correction(old, maximum)
            store_shared_f32(M + row * FLOAT, maximum)
            store_shared_f32(L + row * FLOAT, load_shared_f32(L + row * FLOAT) * factor + total)
            store_shared_f32(alpha + row * FLOAT, factor)

    return softmax


def warp_per_row(TQ: int, TKV: int, hd: int, row_bytes: int, warps: int):
    """P5·3: each warp takes every warps-th row, a lane TKV/32 of its columns; maximum and sum by shuffles."""
    scale = logit_scale(hd)
    columns_per_lane = TKV // 32

    @device_function
    def softmax(S, M, L, alpha, positions, first, nt, first_key, kv):
        logits = cuda.local.array(columns_per_lane, float32)
        lane = cuda.threadIdx.x & 31
        for turn in range(TQ // warps):
            row = turn * warps + (cuda.threadIdx.x >> 5)
            position = position_of(positions, first + row, nt)
            scores = S + row * row_bytes
            first_column = lane * columns_per_lane
            old = load_shared_f32(M + row * FLOAT)
            maximum = old
            for i in range(columns_per_lane):
                logits[i] = load_shared_f32(scores + (first_column + i) * FLOAT) * scale
                if visible(first_key + first_column + i, position, kv):
                    maximum = max(maximum, logits[i])
            for mask in range(5):
                maximum = max(maximum, butterfly(maximum, 16 >> mask))
            cuda.syncwarp()
            total = float32(0)
            for i in range(columns_per_lane):
                p = weight(logits[i], maximum, visible(first_key + first_column + i, position, kv))
                store_shared_u16(scores + (first_column + i) * HALF, to_f16(p))
                total += p
            for mask in range(5):
                total += butterfly(total, 16 >> mask)
            if lane == 0:
                factor = correction(old, maximum)
                store_shared_f32(M + row * FLOAT, maximum)
                store_shared_f32(L + row * FLOAT, load_shared_f32(L + row * FLOAT) * factor + total)
                store_shared_f32(alpha + row * FLOAT, factor)

    return softmax
