"""FAP2, the register rung: four warps, each alone with 16 queries and all keys of a tile. Source: seed 001."""

from numba import cuda
from numba.cuda import types

from playground.kernels.attention.contract import TQ, Rung
from playground.kernels.attention.fragments import LANE_ROWS, REGISTERS, row_of, scale_rows
from playground.kernels.attention.online import NOTHING_SEEN
from playground.kernels.attention.output import store_fragments
from playground.kernels.attention.products import query_key, weights_from_registers, weights_value
from playground.kernels.attention.queries import keys_to_read, load_queries, position_of
from playground.kernels.attention.softmax_registers import on_fragments
from playground.kernels.layout import ALIGNMENT, Region, SharedLayout
from playground.kernels.staging import STAGING
from playground.ptx import wmma
from playground.ptx.integer import udiv
from playground.ptx.memory import shared_address

FRAGMENT = 16
HALF, FLOAT = 2, 4

float32, int32, uint8 = types.float32, types.int32, types.uint8


def fa_registers(hd: int, TKV: int, pad: int, staging: str) -> Rung:
    """Softmax and P in registers, the state of a row in the four lanes that share it; 3 barriers per tile."""
    warps = TQ // FRAGMENT
    threads = 32 * warps
    layout = SharedLayout(
        Region("Q", (TQ, hd + pad), HALF),
        Region("K", (TKV, hd + pad), HALF),
        Region("V", (TKV, hd + pad), HALF),
        Region("O", (TQ, hd), FLOAT, reuses="Q"),  # the last rows' way out, once Q, K and V are done with
    )
    Q_OFFSET, K_OFFSET, V_OFFSET, O_OFFSET = (layout[region].offset for region in "QKVO")
    ROW, O_ROW = layout["Q"].strides[0], layout["O"].strides[0]
    key_fragments, value_fragments = TKV // FRAGMENT, hd // FRAGMENT

    copies = STAGING[staging](TKV, hd, ROW, threads)
    load = load_queries(TQ, hd, ROW, threads, copies.pack)
    count_keys = keys_to_read(TQ)
    stage, commit, wait_for_keys, wait_for_values = copies.stage, copies.commit, copies.wait_1, copies.wait_0
    scores = query_key(TKV, hd, ROW)
    softmax = on_fragments(TKV, hd)
    accumulate = weights_value(TKV, hd, ROW, weights_from_registers(copies.pack))
    store = store_fragments(hd, O_ROW)

    def fa_prefill(Q, K, V, positions, O, nt, nh, nk, kv):
        shared = shared_address(cuda.shared.array(0, uint8, alignment=ALIGNMENT))
        first = cuda.blockIdx.x * TQ
        head = cuda.blockIdx.y
        kv_head = udiv(head * nk, nh)
        warp = cuda.threadIdx.x >> 5
        lane = cuda.threadIdx.x & 31

        fc = cuda.local.array((key_fragments, REGISTERS), float32)
        acc = cuda.local.array((value_fragments, REGISTERS), float32)
        position = cuda.local.array(LANE_ROWS, int32)
        maximum = cuda.local.array(LANE_ROWS, float32)
        total = cuda.local.array(LANE_ROWS, float32)
        alpha = cuda.local.array(LANE_ROWS, float32)
        for row in range(LANE_ROWS):
            position[row] = position_of(positions, first + warp * FRAGMENT + row_of(lane, row), nt)
            maximum[row] = NOTHING_SEEN
            total[row] = 0
        for c in range(value_fragments):
            wmma.fill(acc[c], 0)

        load(shared + Q_OFFSET, Q, head, first, nt, nh)
        keys = count_keys(positions, first, nt, kv)
        Qs = shared + Q_OFFSET + warp * FRAGMENT * ROW
        for tile in range(udiv(keys + TKV - 1, TKV)):
            stage(shared + K_OFFSET, K, tile * TKV, kv, kv_head * hd, nk * hd)
            commit()
            stage(shared + V_OFFSET, V, tile * TKV, kv, kv_head * hd, nk * hd)
            commit()
            wait_for_keys()
            cuda.syncthreads()
            scores(Qs, shared + K_OFFSET, fc)
            softmax(fc, position, maximum, total, alpha, tile * TKV, kv)
            for c in range(value_fragments):
                scale_rows(acc[c], alpha)
            wait_for_values()
            cuda.syncthreads()
            accumulate(fc, shared + V_OFFSET, acc)
            cuda.syncthreads()

        row = first + warp * FRAGMENT
        store(
            O + (row * nh + head) * hd * FLOAT,
            shared + O_OFFSET + warp * FRAGMENT * O_ROW,
            acc,
            total,
            nt - row,
            nh * hd,
        )

    return Rung(fa_prefill, threads, layout, copies.minimum_cc)
