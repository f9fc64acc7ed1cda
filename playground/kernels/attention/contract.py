"""What the attention kernels compute: causal grouped-query attention over a key/value cache."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from playground.kernels.contract import Contract, Tensor
from playground.kernels.layout import SharedLayout

TQ = 64
HEAD_DIMENSIONS = (64, 128)


@dataclass(frozen=True)
class Rung:
    """What distinguishes one kernel of the ladder from another: see Kernel for the fields."""

    function: Callable
    threads: int
    layout: SharedLayout
    minimum_cc: tuple[int, int]


@cache
def attention_contract(hd: int) -> Contract:
    """O[t, h] = softmax(q · Kᵀ / √hd) · V over the keys up to positions[t], with q = Q[t, h] rounded to f16.

    Q, O: [nt, nh, hd] f32. K, V: [kv, nk, hd] f16, the cache; query head h reads key head h · nk / nh. positions: [nt]
    int32, each the row of the cache that holds the token's own key.
    """
    return Contract(
        name=f"attention_hd{hd}",
        tensors=(
            Tensor("Q", "float32", ("nt", "nh", hd)),
            Tensor("K", "float16", ("kv", "nk", hd)),
            Tensor("V", "float16", ("kv", "nk", hd)),
            Tensor("positions", "int32", ("nt",)),
            Tensor("O", "float32", ("nt", "nh", hd), written=True),
        ),
        dimensions=("nt", "nh", "nk", "kv"),
        flop=lambda nt, nh, nk, kv: 4 * nh * hd * sum(range(kv - nt + 1, kv + 1)),  # the last nt of kv positions
        emulated=({"nt": 65, "nh": 2, "nk": 1, "kv": 130}, {"nt": 128, "nh": 1, "nk": 1, "kv": 128}),
        complaint=_complaint,
        complaint_about_values=_complaint_about_positions,
        degrees={"nt": 2, "nk": 0},
        moves_with={"kv": "nt"},
    )


def _complaint(nt: int, nh: int, nk: int, kv: int) -> str | None:
    if nh % nk:
        return f"nh = {nh} query heads are not a multiple of nk = {nk} key heads"
    if kv < nt:
        return f"kv = {kv} rows of K and V cannot hold the nt = {nt} tokens' own keys"
    return None


def _complaint_about_positions(inputs) -> str | None:
    positions, kv = inputs["positions"], len(inputs["K"])
    low, high = int(positions.min()), int(positions.max())
    return f"positions {low} to {high} are not all inside the {kv} rows of K and V" if low < 0 or high >= kv else None
