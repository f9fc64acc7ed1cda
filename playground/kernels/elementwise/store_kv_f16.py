"""store_kv_f16: dst[positions[t]] f16 = src[t] f32, row by row into the cache. Source: seed 000, §3.2, P5·1.

The source gives every token blocks of its own: for the 512 dims of a 7B's K or V one block, which moves 3 KB and is
gone. A flat grid numbers the lanes over all tokens, so that blocks are as large and as full as may be for any length of
row; it costs each lane a division.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numba import cuda
from numba.cuda.types import float32

from playground.kernels.contract import Contract, Tensor
from playground.kernels.elementwise.convert_f32_f16 import VECTOR, access, convert_one
from playground.kernels.elementwise.geometry import THREADS, flat_grid, row_grid, too_long
from playground.kernels.kernel import Kernel
from playground.kernels.parameters import check_choice
from playground.ptx.device_function import device_function
from playground.ptx.integer import udiv, urem
from playground.ptx.memory import load_global_s32

FLOAT, HALF, INT = 4, 2, 4
WARP = 32
ROW_THREADS = 128  # 4 dims per lane of them are the 512 of a 7B's K or V: no thread of the one block is idle
LANES = 2**32 - THREADS


def _complaint(nt: int, nkt: int, slots: int) -> str | None:
    if slots < nt:
        return f"slots = {slots} rows of dst cannot hold nt = {nt} tokens"
    if nt * nkt > LANES:
        return f"nt · nkt = {nt * nkt} is over {LANES}: a flat grid numbers its lanes in 32 bits"
    return too_long(ROW_THREADS, nkt=nkt)


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


def store_kv_f16(per_lane: int = 4, grid: str = "rows") -> Kernel:
    """dst[positions[t], j] f16 = src[t, j] f32 for nt rows of nkt; the other rows of dst [slots, nkt] stay as they are.

    per_lane: dims per thread, 1, 4 or 8. Four go as 16 bytes in and 8 out, eight as twice 16 in and 16 out, if nkt is a
    multiple of them, and else one by one: only then does every row begin where such an access may. (The source asks
    only whether as many are left in the row.) grid: "rows", blocks of 128 threads along each token's row as in the
    source, or "flat", blocks of 256 over all tokens.
    """
    check_choice("store_kv_f16", "per_lane", per_lane, (1, 4, 8))
    check_choice("store_kv_f16", "grid", grid, tuple(GEOMETRIES))
    geometry, (read, write) = GEOMETRIES[grid](per_lane), access(per_lane)
    place, vectors = geometry.place, -(-per_lane // VECTOR)

    def store_kv_f16(src, positions, dst, nt, nkt, slots):
        token, first = place(nkt)
        if token < nt and first < nkt:
            source = src + token * nkt * FLOAT
            position = positions + token * INT
            if nkt & (per_lane - 1) == 0:
                # Values before the position: in the other order both branches share the address of the row, which the
                # compiler then computes before it branches, and the values are asked for when the position is there.
                values = cuda.local.array((vectors, VECTOR), float32)
                read(values, source + first * FLOAT)
                write(dst + (load_global_s32(position) * nkt + first) * HALF, values)
            else:
                row = dst + load_global_s32(position) * nkt * HALF
                for dim in range(first, first + per_lane):
                    if dim < nkt:
                        convert_one(source + dim * FLOAT, row + dim * HALF)

    return Kernel(
        name="store_kv_f16",
        parameters={"per_lane": per_lane} | ({} if grid == "rows" else {"grid": grid}),
        contract=STORE_KV_F16,
        function=store_kv_f16,
        threads=geometry.threads,
        grid=geometry.grid,
        minimum_cc=(7, 5) if per_lane == 1 else (8, 0),
        alignment={} if per_lane == 1 else {"src": VECTOR * FLOAT, "dst": per_lane * HALF},
        period={**geometry.period, "slots": 1},
    )


@dataclass(frozen=True)
class Geometry:
    """How lanes are laid over tokens. place: a device function, `token, first = place(nkt)`: whose dims, from which.

    period: as Kernel's, of nt and nkt.
    """

    threads: int
    grid: Callable[..., tuple[int, int, int]]
    place: Callable
    period: Mapping[str, int]


def rows(per_lane: int) -> Geometry:
    """Blocks of their own for every token."""

    @device_function
    def place(nkt):
        return cuda.blockIdx.x, (cuda.blockIdx.y * ROW_THREADS + cuda.threadIdx.x) * per_lane

    dims = ROW_THREADS * per_lane
    return Geometry(ROW_THREADS, lambda nt, nkt, slots: row_grid(nt, nkt, dims), place, {"nt": 16, "nkt": dims})


def flat(per_lane: int) -> Geometry:
    """Blocks over the lanes of all tokens: one holds parts of several, and no lane but those at the end is idle."""

    @device_function
    def place(nkt):
        lane = cuda.blockIdx.x * THREADS + cuda.threadIdx.x
        lanes_per_row = udiv(nkt + per_lane - 1, per_lane)
        return udiv(lane, lanes_per_row), urem(lane, lanes_per_row) * per_lane

    def grid(nt, nkt, slots):
        return flat_grid(nt * -(-nkt // per_lane), THREADS)

    # Rows begin at the same lanes of their warps if a row is a warp of lanes longer, and again after 32 rows.
    return Geometry(THREADS, grid, place, {"nt": WARP, "nkt": WARP * per_lane})


GEOMETRIES = {"rows": rows, "flat": flat}
