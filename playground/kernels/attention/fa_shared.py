"""The rungs 8n to FAP1: eight warps, scores and weights through shared memory. Source: seeds 000, §2.2 and 001, §3.2.

The warps stand 4 × 2: each has 16 queries, and half of the keys in Q · Kᵀ, half of the output columns in P · V.
"""

from collections.abc import Callable
from dataclasses import dataclass

from numba import cuda
from numba.cuda import types

from playground.kernels.attention.contract import TQ, Rung
from playground.kernels.attention.fragments import LANE_ROWS, REGISTERS, row_of, scale_rows
from playground.kernels.attention.online import NOTHING_SEEN
from playground.kernels.attention.output import reciprocal, store_fragments
from playground.kernels.attention.products import (
    query_key,
    store_scores,
    weights_from_shared,
    weights_value,
    weights_value_scalar,
)
from playground.kernels.attention.queries import keys_to_read, load_queries
from playground.kernels.attention.softmax_shared import serial_rows, warp_per_row
from playground.kernels.layout import ALIGNMENT, Region, SharedLayout
from playground.kernels.staging import STAGING
from playground.ptx import wmma
from playground.ptx.device_function import device_function
from playground.ptx.integer import udiv
from playground.ptx.memory import load_shared_f32, shared_address, store_global_f32, store_shared_f32

FRAGMENT = 16
HALF, FLOAT = 2, 4
WARPS = 8
THREADS = 32 * WARPS
LANES_PER_ROW = THREADS // TQ


@dataclass(frozen=True)
class Output:
    """How the output is held and added to: the shape of each thread's part, and three device functions."""

    shape: tuple[int, int]
    begin: Callable
    accumulate: Callable
    finish: Callable


SOFTMAX = {"serial": serial_rows, "rows": warp_per_row}

float32, uint8 = types.float32, types.uint8


def fa_shared(hd: int, TKV: int, pad: int, s_pad: int, softmax: str, pv: str, staging: str) -> Rung:
    """One of the rungs, by its parts: softmax "serial" or "rows", pv "scalar" or "wmma", staging "async" or "sync"."""
    layout = SharedLayout(
        Region("Q", (TQ, hd + pad), HALF),
        Region("K", (TKV, hd + pad), HALF),
        Region("V", (TKV, hd + pad), HALF),
        Region("S", (TQ, TKV + s_pad), FLOAT),
        Region("M", (TQ,), FLOAT),
        Region("L", (TQ,), FLOAT),
        Region("alpha", (TQ,), FLOAT),
        Region("O", (TQ, hd), FLOAT, reuses="Q"),
    )
    Q_OFFSET, K_OFFSET, V_OFFSET, S_OFFSET = (layout[region].offset for region in "QKVS")
    M_OFFSET, L_OFFSET, ALPHA_OFFSET = layout["M"].offset, layout["L"].offset, layout["alpha"].offset
    ROW, S_ROW = layout["Q"].strides[0], layout["S"].strides[0]

    copies = STAGING[staging](TKV, hd, ROW, THREADS)
    load = load_queries(TQ, hd, ROW, THREADS, copies.pack)
    count_keys = keys_to_read(TQ)
    stage, commit, wait_for_keys, wait_for_values = copies.stage, copies.commit, copies.wait_1, copies.wait_0
    half_keys = TKV // 2
    key_fragments = half_keys // FRAGMENT
    scores = query_key(half_keys, hd, ROW)
    store = store_scores(half_keys, S_ROW)
    softmax = SOFTMAX[softmax](TQ, TKV, hd, S_ROW, WARPS)
    output = (scalar_output if pv == "scalar" else wmma_output)(hd, TKV, ROW, layout)
    begin, accumulate, finish = output.begin, output.accumulate, output.finish
    OUTPUTS, OUTPUT_WIDTH = output.shape

    def fa_prefill(Q, K, V, positions, O, nt, nh, nk, kv):
        shared = shared_address(cuda.shared.array(0, uint8, alignment=ALIGNMENT))
        first = cuda.blockIdx.x * TQ
        head = cuda.blockIdx.y
        kv_head = udiv(head * nk, nh)
        warp = cuda.threadIdx.x >> 5
        query_block = warp >> 1
        key_half = warp & 1

        fc = cuda.local.array((key_fragments, REGISTERS), float32)
        out = cuda.local.array((OUTPUTS, OUTPUT_WIDTH), float32)
        begin(out)
        if cuda.threadIdx.x < TQ:
            store_shared_f32(shared + M_OFFSET + cuda.threadIdx.x * FLOAT, NOTHING_SEEN)
            store_shared_f32(shared + L_OFFSET + cuda.threadIdx.x * FLOAT, 0)

        load(shared + Q_OFFSET, Q, head, first, nt, nh)
        keys = count_keys(positions, first, nt, kv)
        Qs = shared + Q_OFFSET + query_block * FRAGMENT * ROW
        Ks = shared + K_OFFSET + key_half * half_keys * ROW
        S = shared + S_OFFSET + query_block * FRAGMENT * S_ROW + key_half * half_keys * FLOAT
        for tile in range(udiv(keys + TKV - 1, TKV)):
            stage(shared + K_OFFSET, K, tile * TKV, kv, kv_head * hd, nk * hd)
            commit()
            stage(shared + V_OFFSET, V, tile * TKV, kv, kv_head * hd, nk * hd)
            commit()
            wait_for_keys()
            cuda.syncthreads()
            scores(Qs, Ks, fc)
            store(S, fc)
            cuda.syncthreads()  # a row's scores come from two warps, its softmax runs in another
            softmax(
                shared + S_OFFSET,
                shared + M_OFFSET,
                shared + L_OFFSET,
                shared + ALPHA_OFFSET,
                positions,
                first,
                nt,
                tile * TKV,
                kv,
            )
            wait_for_values()
            cuda.syncthreads()
            accumulate(shared, out)
            cuda.syncthreads()
        finish(shared, out, O + (first * nh + head) * hd * FLOAT, nt - first, nh * hd)

    return Rung(fa_prefill, THREADS, layout, copies.minimum_cc)


def wmma_output(hd: int, TKV: int, row_bytes: int, layout: SharedLayout):
    """P5·0: the output as accumulator fragments, 16 rows × hd/2 columns per warp."""
    columns = hd // 2
    fragments = columns // FRAGMENT
    V_OFFSET, S_OFFSET, O_OFFSET = layout["V"].offset, layout["S"].offset, layout["O"].offset
    L_OFFSET, ALPHA_OFFSET = layout["L"].offset, layout["alpha"].offset
    P_ROW, O_ROW = layout["S"].strides[0], layout["O"].strides[0]
    multiply = weights_value(TKV, columns, row_bytes, weights_from_shared(P_ROW))
    store = store_fragments(columns, O_ROW)

    @device_function
    def begin(acc):
        for c in range(fragments):
            wmma.fill(acc[c], 0)

    @device_function
    def of_lane_rows(values, offset):
        """Read what shared memory holds for the lane's two rows."""
        lane = cuda.threadIdx.x & 31
        for row in range(LANE_ROWS):
            values[row] = load_shared_f32(offset + ((cuda.threadIdx.x >> 6) * FRAGMENT + row_of(lane, row)) * FLOAT)

    @device_function
    def accumulate(shared, acc):
        warp = cuda.threadIdx.x >> 5
        alpha = cuda.local.array(LANE_ROWS, float32)
        of_lane_rows(alpha, shared + ALPHA_OFFSET)
        for c in range(fragments):
            scale_rows(acc[c], alpha)
        P = shared + S_OFFSET + (warp >> 1) * FRAGMENT * P_ROW
        multiply(P, shared + V_OFFSET + (warp & 1) * columns * HALF, acc)

    @device_function
    def finish(shared, acc, O, rows, head_stride):
        warp = cuda.threadIdx.x >> 5
        total = cuda.local.array(LANE_ROWS, float32)
        of_lane_rows(total, shared + L_OFFSET)
        row = (warp >> 1) * FRAGMENT
        column = (warp & 1) * columns * FLOAT
        staging = shared + O_OFFSET + row * O_ROW + column
        store(O + row * head_stride * FLOAT + column, staging, acc, total, rows - row, head_stride)

    return Output((fragments, REGISTERS), begin, accumulate, finish)


def scalar_output(hd: int, TKV: int, row_bytes: int, layout: SharedLayout):
    """8n: the output in four threads per row, each with every fourth column."""
    columns = hd // LANES_PER_ROW
    V_OFFSET, S_OFFSET = layout["V"].offset, layout["S"].offset
    L_OFFSET, ALPHA_OFFSET = layout["L"].offset, layout["alpha"].offset
    P_ROW = layout["S"].strides[0]
    multiply = weights_value_scalar(TKV, columns, row_bytes)

    @device_function
    def begin(out):
        for c in range(columns):
            out[0, c] = 0

    @device_function
    def accumulate(shared, out):
        row = cuda.threadIdx.x >> 2
        alpha = load_shared_f32(shared + ALPHA_OFFSET + row * FLOAT)
        for c in range(columns):
            out[0, c] *= alpha
        multiply(shared + S_OFFSET + row * P_ROW, shared + V_OFFSET + (cuda.threadIdx.x & 3) * HALF, out[0])

    @device_function
    def finish(shared, out, O, rows, head_stride):
        row = cuda.threadIdx.x >> 2
        factor = reciprocal(load_shared_f32(shared + L_OFFSET + row * FLOAT))
        if row < rows:
            for c in range(columns):
                column = c * LANES_PER_ROW + (cuda.threadIdx.x & 3)
                store_global_f32(O + (row * head_stride + column) * FLOAT, out[0, c] * factor)

    return Output((1, columns), begin, accumulate, finish)
