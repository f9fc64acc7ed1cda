"""PTX types as NumPy dtypes. Source: PTX ISA, "Fundamental Types" and "Alternate Floating-Point Data Formats"."""

import numpy as np

WIDTH = {"pred": 1, "f16x2": 32, "bf16x2": 32} | {
    f"{letters}{width}": width for letters in ("b", "u", "s") for width in (8, 16, 32, 64)
}
WIDTH |= {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}

UNSIGNED = {1: np.dtype(bool), 8: np.dtype("u1"), 16: np.dtype("u2"), 32: np.dtype("u4"), 64: np.dtype("u8")}
SIGNED = {8: np.dtype("i1"), 16: np.dtype("i2"), 32: np.dtype("i4"), 64: np.dtype("i8")}
FLOATS = {"f16": np.dtype("f2"), "f32": np.dtype("f4"), "f64": np.dtype("f8")}


def storage(kind: str) -> np.dtype:
    """The dtype that a register of this type is kept in: bits are unsigned, only f32 and f64 are kept as floats."""
    return FLOATS[kind] if kind in ("f32", "f64") else UNSIGNED[WIDTH[kind]]


def value(kind: str) -> np.dtype:
    """The dtype that an instruction of this type computes in. bf16 and packed pairs have none: they stay bits."""
    if kind in FLOATS:
        return FLOATS[kind]
    return SIGNED[WIDTH[kind]] if kind[0] == "s" else UNSIGNED[WIDTH[kind]]


def is_float(kind: str) -> bool:
    return "f" in kind


def is_signed(kind: str) -> bool:
    return kind[0] == "s"


def size(kind: str) -> int:
    """Bytes in memory."""
    return WIDTH[kind] // 8
