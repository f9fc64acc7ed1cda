"""rope: rotary position embedding as Qwen2.5 has it: element i turns with element i + hd/2, by position · θ^(-2i/hd).

Angles are counted in turns, and whole turns are dropped before anything is rounded: a frequency is the sum of two f32,
and position · frequency minus its nearest whole number is one fma, exact. A f32 angle in radians is off by 0.001 at
position 20,000; this one is not off by more than at position 1.
"""

import math
from functools import cache

import numpy as np
from numba import cuda
from numba.cuda import types

from playground.kernels.contract import Contract, Tensor
from playground.kernels.elementwise.geometry import THREADS
from playground.kernels.kernel import Kernel
from playground.kernels.parameters import check_choice
from playground.ptx.convert import round_to_whole
from playground.ptx.integer import udiv, urem
from playground.ptx.memory import load_global_f32, load_global_s32, store_global_f32
from playground.ptx.special_function import cosine, sine

THETA = 1e6
HEAD_DIMENSIONS = (64, 128)
POSITIONS = 2**24
FLOAT, INT = 4, 4

float32 = types.float32
FULL_TURN = float32(2 * math.pi)


def frequencies(hd: int) -> np.ndarray:
    """Turns per position of each pair of elements, in float64: (hd/2,)."""
    return THETA ** (-2 * np.arange(hd // 2) / hd) / (2 * np.pi)


@cache
def rope_contract(hd: int) -> Contract:
    """X, Y: [nt, nh, hd] f32. positions: [nt] int32, each from 0 up to 2^24, which f32 still holds exactly."""
    return Contract(
        name=f"rope_hd{hd}",
        tensors=(
            Tensor("X", "float32", ("nt", "nh", hd)),
            Tensor("positions", "int32", ("nt",)),
            Tensor("Y", "float32", ("nt", "nh", hd), written=True),
        ),
        dimensions=("nt", "nh"),
        emulated=({"nt": 3, "nh": 5}, {"nt": 8, "nh": 8}),
        complaint_about_values=_complaint_about_positions,
        rate="GB/s",
    )


def _complaint_about_positions(inputs) -> str | None:
    low, high = int(inputs["positions"].min()), int(inputs["positions"].max())
    return None if low >= 0 and high < POSITIONS else f"positions {low} to {high} are not all from 0 to {POSITIONS - 1}"


def rope(hd: int = 128) -> Kernel:
    """Y[nt, nh, hd] f32 = X rotated by positions[nt] int32, θ = 1e6; X and Y may be the same array.

    hd: head dimension, 64 or 128. One block per token; a thread keeps to its pair of elements through all heads, so
    that sine and cosine are worked out once.
    """
    check_choice("rope", "hd", hd, HEAD_DIMENSIONS)
    half = hd // 2
    heads_at_once = THREADS // half
    high = frequencies(hd).astype(np.float32)
    table = np.stack([high, (frequencies(hd) - high).astype(np.float32)], axis=1)

    def rope(X, positions, Y, nt, nh):
        token = cuda.blockIdx.x
        pair = urem(cuda.threadIdx.x, half)
        position = float32(load_global_s32(positions + token * INT))
        in_turns = cuda.const.array_like(table)
        whole = round_to_whole(position * in_turns[pair, 0])
        turn = cuda.fma(position, in_turns[pair, 0], -whole)
        turn = cuda.fma(position, in_turns[pair, 1], turn)
        s, c = sine(turn * FULL_TURN), cosine(turn * FULL_TURN)
        for head in range(udiv(cuda.threadIdx.x, half), nh, heads_at_once):
            first = ((token * nh + head) * hd + pair) * FLOAT
            second = first + half * FLOAT
            a, b = load_global_f32(X + first), load_global_f32(X + second)
            store_global_f32(Y + first, a * c - b * s)
            store_global_f32(Y + second, b * c + a * s)

    return Kernel(
        name="rope",
        parameters={"hd": hd},
        contract=rope_contract(hd),
        function=rope,
        threads=THREADS,
        grid=lambda nt, nh: (nt, 1, 1),
        period={"nt": 1, "nh": 4 * heads_at_once},
    )
