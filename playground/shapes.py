"""The model shapes that probes run on."""

from collections.abc import Mapping
from dataclasses import dataclass


def extent(dims: Mapping[str, int]) -> str:
    """Dimensions as text: 2048×3584×3584."""
    return "×".join(str(length) for length in dims.values())


@dataclass(frozen=True)
class Shape:
    """Dimensions of one launch; `roles`: the layer's passes that have them, once each."""

    dims: dict[str, int]
    roles: tuple[str, ...] = ("",)

    def __str__(self) -> str:
        roles = ", ".join(role for role in self.roles if role)
        return extent(self.dims) + (f" ({roles})" if roles else "")


@dataclass(frozen=True)
class Model:
    """A Qwen2.5-shaped decoder. Source of the 7B's numbers: its published configuration.

    tied: the head multiplies by the embedding, and there is no lm_head.weight.
    """

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    feed_forward: int
    vocabulary: int
    rms_eps: float = 1e-6
    rope_theta: float = 1_000_000.0
    tied: bool = False

    @property
    def q_width(self) -> int:
        """Elements of all query heads of one token."""
        return self.heads * self.head_dim

    @property
    def kv_width(self) -> int:
        """Elements of all key heads, or of all value heads, of one token."""
        return self.kv_heads * self.head_dim

    def gemms(self, nt: int) -> tuple[Shape, ...]:
        """The seven GEMMs of one layer over nt tokens, equal shapes together."""
        return (
            gemm(nt, self.hidden, self.hidden, "q", "o"),
            gemm(nt, self.kv_width, self.hidden, "k", "v"),
            gemm(nt, self.feed_forward, self.hidden, "gate", "up"),
            gemm(nt, self.hidden, self.feed_forward, "down"),
        )

    def attention(self, nt: int) -> Shape:
        """The attention of one layer over nt tokens, from an empty cache."""
        return attention(nt, self.heads, self.kv_heads)


def attention(nt: int, nh: int, nk: int, kv: int | None = None, *roles: str) -> Shape:
    """nt queries in nh heads over a cache of kv keys in nk heads (nt if not given)."""
    return Shape({"nt": nt, "nh": nh, "nk": nk, "kv": kv or nt}, roles or ("",))


def gemm(nt: int, od: int, id: int, *roles: str) -> Shape:
    """C[nt, od] = A[nt, id] · B[od, id]ᵀ."""
    return Shape({"nt": nt, "od": od, "id": id}, roles or ("",))


QWEN25_7B = Model(28, 3584, 28, 4, 128, 18944, 152064)
QWEN25_7B_PREFILL = QWEN25_7B.gemms(nt=2048)
QWEN25_7B_ATTENTION = tuple(QWEN25_7B.attention(nt) for nt in (512, 2048))
"""Two prefills, not two passes of one layer: so without roles."""
