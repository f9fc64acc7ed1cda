"""store_kv_f16: dst[positions[t]] f16 = src[t] f32, row by row into the cache. Source: seed 000, §3.2, P5·1."""

import numpy as np
from numba import cuda

from playground.kernels.contract import Contract, Tensor
from playground.kernels.elementwise.convert_f32_f16 import VECTOR, convert_4, convert_one
from playground.kernels.elementwise.geometry import row_grid, too_long
from playground.kernels.kernel import Kernel
from playground.kernels.parameters import check_choice
from playground.ptx.memory import load_global_s32

FLOAT, HALF, INT = 4, 2, 4
THREADS = 128  # 4 dims per lane of them are the 512 of a 7B's K or V: no thread of the one block is idle


def _complaint(nt: int, nkt: int, slots: int) -> str | None:
    if slots < nt:
        return f"slots = {slots} rows of dst cannot hold nt = {nt} tokens"
    return too_long(THREADS, nkt=nkt)


def _complaint_about_values(inputs) -> str | None:
    positions, slots = inputs["positions"], len(inputs["dst"])
    low, high = int(positions.min()), int(positions.max())
    if low < 0 or high >= slots:
        return f"positions {low} to {high} are not all inside the {slots} rows of dst"
    rows, counts = np.unique(positions, return_counts=True)
    if len(rows) < len(positions):
        return f"positions name row {rows[counts > 1][0]} more than once: whose it becomes is not determined"
    return None


STORE_KV_F16 = Contract(
    name="store_kv_f16",
    tensors=(
        Tensor("src", "float32", ("nt", "nkt")),
        Tensor("positions", "int32", ("nt",)),
        Tensor("dst", "float16", ("slots", "nkt"), written=True, updated=True),
    ),
    dimensions=("nt", "nkt", "slots"),
    emulated=({"nt": 5, "nkt": 131, "slots": 9}, {"nt": 16, "nkt": 512, "slots": 24}),
    complaint=_complaint,
    complaint_about_values=_complaint_about_values,
    rate="GB/s",
    traffic=lambda nt, nkt, slots: nt * (nkt * (FLOAT + HALF) + INT),
    degrees={"slots": 0},
    moves_with={"slots": "nt"},
)


def store_kv_f16(per_lane: int = 4) -> Kernel:
    """dst[positions[t], j] f16 = src[t, j] f32 for nt rows of nkt; the other rows of dst [slots, nkt] stay as they are.

    per_lane: dims per thread, 1 or 4. Four go as 16 bytes in and 8 out, if nkt is a multiple of 4, and else one by one:
    only then does every row begin where such an access may. (The source asks only whether four are left in the row.)
    """
    check_choice("store_kv_f16", "per_lane", per_lane, (1, VECTOR))

    def store_kv_f16(src, positions, dst, nt, nkt, slots):
        token = cuda.blockIdx.x
        first = (cuda.blockIdx.y * THREADS + cuda.threadIdx.x) * per_lane
        if first < nkt:
            row = load_global_s32(positions + token * INT)
            source = src + token * nkt * FLOAT
            destination = dst + row * nkt * HALF
            if per_lane == VECTOR and nkt & (VECTOR - 1) == 0:
                convert_4(source + first * FLOAT, destination + first * HALF)
            else:
                for dim in range(first, first + per_lane):
                    if dim < nkt:
                        convert_one(source + dim * FLOAT, destination + dim * HALF)

    return Kernel(
        name="store_kv_f16",
        parameters={"per_lane": per_lane},
        contract=STORE_KV_F16,
        function=store_kv_f16,
        threads=THREADS,
        grid=lambda nt, nkt, slots: row_grid(nt, nkt, THREADS * per_lane),
        minimum_cc=(7, 5) if per_lane == 1 else (8, 0),
        alignment=1 if per_lane == 1 else 16,
        period={"nt": 16, "nkt": THREADS * per_lane, "slots": 1},
    )
