"""State spaces: their names in PTX, their place among generic addresses, their bytes as words, accesses that miss."""

import numpy as np

SPACES = {"shared": "shared", "shared::cta": "shared", "global": "global", "const": "global", "local": "local"}

WINDOWS = {"shared": 0x1000_0000_0000, "local": 0x2000_0000_0000, "global": 0}
"""What is added to an address to make it generic."""

WINDOW_BYTES = 1 << 32
"""The size of the windows of shared and of local memory; all else is global."""

_DTYPES = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}


def zeroed_words(bytes: int) -> dict[int, np.ndarray]:
    """Memory of a multiple of 16 bytes, as one array of words per width in bytes; all share the same memory."""
    storage = np.zeros(bytes // 16, np.complex128)
    return {width: storage.view(dtype) for width, dtype in _DTYPES.items()}


def drop(group, kind: str, instruction: int, lanes, address, bad, detail: str):
    """Report the accesses that are bad, bool (n,); the (lanes, addresses) of the others."""
    kept = group.positions[lanes]
    group.report(kind, instruction, kept[bad], detail)
    return kept[~bad], address[~bad]
