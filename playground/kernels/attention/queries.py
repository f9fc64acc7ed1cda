"""Queries and positions: what a block reads once, before it walks the keys."""

from numba import cuda
from numba.cuda import types

from playground.ptx.device_function import device_function
from playground.ptx.integer import udiv, urem
from playground.ptx.memory import load_global_f32, load_global_s32, store_shared_u32

HALF, FLOAT, INT = 2, 4, 4

int32 = types.int32


def load_queries(TQ: int, hd: int, row_bytes: int, threads: int, pack):
    """A device function: `load(Qs, Q, head, first, nt, nh)` brings TQ × hd queries of one head to shared memory as f16.

    Q: address of [nt, nh, hd] f32. Rows from nt on become zeros. pack: two f32 to f16x2, as the architecture can.
    """
    pairs_per_row = hd // 2
    turns = TQ * pairs_per_row // threads

    @device_function
    def load(Qs, Q, head, first, nt, nh):
        for turn in range(turns):
            pair = turn * threads + cuda.threadIdx.x
            row = udiv(pair, pairs_per_row)
            column = urem(pair, pairs_per_row) * 2
            bits = pack(0.0, 0.0)
            if first + row < nt:
                source = Q + (((first + row) * nh + head) * hd + column) * FLOAT
                bits = pack(load_global_f32(source), load_global_f32(source + FLOAT))
            store_shared_u32(Qs + row * row_bytes + column * HALF, bits)

    return load


@device_function
def position_of(positions, row, nt):
    """The position of query `row`; -1, which sees no key, from nt on."""
    return load_global_s32(positions + row * INT) if row < nt else int32(-1)


def keys_to_read(TQ: int):
    """A device function: `keys_to_read(positions, first, nt, kv)`: how many keys the TQ rows from `first` can see."""

    @device_function
    def keys_to_read(positions, first, nt, kv):
        last = int32(-1)
        for row in range(TQ):
            last = max(last, position_of(positions, first + row, nt))
        return min(kv, last + 1)

    return keys_to_read


@device_function
def visible(key, position, kv):
    """Whether the query at `position` attends to `key`: causal, and inside the cache."""
    key = int32(key)
    return key <= position and key < kv
