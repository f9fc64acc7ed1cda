"""The two matrix products of attention: scores = Q · Kᵀ and output += P · V.

K and V lie alike in memory, [key][hd], but the products consume them along different axes: for Q · Kᵀ that layout is a
column-major B, for P · V a row-major one. Source: seed 001, §2 "The major-ness trap".
"""

from numba import cuda, uint32

from playground.ptx import wmma
from playground.ptx.convert import from_f16
from playground.ptx.device_function import device_function
from playground.ptx.memory import load_shared_u16

FRAGMENT = 16
REGISTERS = wmma.REGISTERS
HALF, FLOAT = 2, 4


def query_key(columns: int, hd: int, row_bytes: int):
    """A device function: `scores(Qs, Ks, fc)`: 16 queries at Qs times `columns` keys at Ks, into fc[columns/16]."""
    stride = row_bytes // HALF
    fragments = columns // FRAGMENT

    @device_function
    def scores(Qs, Ks, fc):
        fa = cuda.local.array(REGISTERS, uint32)
        fb = cuda.local.array(REGISTERS, uint32)
        for c in range(fragments):
            wmma.fill(fc[c], 0)
        for d in range(hd // FRAGMENT):
            wmma.load_a_row(fa, Qs + d * FRAGMENT * HALF, stride)
            for c in range(fragments):
                wmma.load_b_col(fb, Ks + c * FRAGMENT * row_bytes + d * FRAGMENT * HALF, stride)
                wmma.mma_row_col(fc[c], fa, fb)

    return scores


def store_scores(columns: int, row_bytes: int):
    """A device function: `store(S, fc)`: the fragments of 16 rows × columns to shared memory, f32."""
    fragments = columns // FRAGMENT

    @device_function
    def store(S, fc):
        for c in range(fragments):
            wmma.store_shared(S + c * FRAGMENT * FLOAT, fc[c], row_bytes // FLOAT)

    return store


def weights_value(TKV: int, columns: int, v_row_bytes: int, load_weights):
    """A device function: `accumulate(weights, Vs, acc)`: 16 rows of weights times V, into acc[columns/16].

    load_weights: `load(fa, weights, k)` fills the A operand for the k-th 16 keys.
    """
    fragments = columns // FRAGMENT
    stride = v_row_bytes // HALF

    @device_function
    def accumulate(weights, Vs, acc):
        fa = cuda.local.array(REGISTERS, uint32)
        fb = cuda.local.array(REGISTERS, uint32)
        for k in range(TKV // FRAGMENT):
            load_weights(fa, weights, k)
            for c in range(fragments):
                wmma.load_b_row(fb, Vs + k * FRAGMENT * v_row_bytes + c * FRAGMENT * HALF, stride)
                wmma.mma_row_row(acc[c], fa, fb)

    return accumulate


def weights_from_shared(row_bytes: int):
    """P5·0: `load(fa, P, k)` from rows of f16 in shared memory."""

    @device_function
    def load(fa, P, k):
        wmma.load_a_row(fa, P + k * FRAGMENT * HALF, row_bytes // HALF)

    return load


def weights_from_registers(pack):
    """FAP2: `load(fa, weights, k)`: the weights become the A operand where they are.

    An f32 accumulator and an f16 row-major A fragment put the same element in the same lane, in the same order
    (experiments.lane_maps): converting element by element is the whole hand-over.
    """

    @device_function
    def load(fa, weights, k):
        for pair in range(REGISTERS // 2):
            fa[pair] = pack(weights[k, 2 * pair], weights[k, 2 * pair + 1])
            fa[pair + REGISTERS // 2] = fa[pair]

    return load


def weights_value_scalar(TKV: int, columns: int, v_row_bytes: int):
    """8n: `accumulate(P, Vs, out)`: one row of P times V by scalar FMA, every fourth column, into out[columns]."""

    @device_function
    def accumulate(P, Vs, out):
        for key in range(TKV):
            p = from_f16(load_shared_u16(P + key * HALF))
            for c in range(columns):
                out[c] += p * from_f16(load_shared_u16(Vs + key * v_row_bytes + c * 4 * HALF))

    return accumulate
