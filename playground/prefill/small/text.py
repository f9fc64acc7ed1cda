"""Text that every Python ships: the sources of its standard library and its help topics, as bytes."""

import hashlib
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from pydoc_data import topics

import numpy as np

from playground.errors import Refusal

LEFT_OUT = {
    "site-packages", "dist-packages", "test", "tests", "idle_test", "encodings", "lib2to3", "pydoc_data", "__phello__",
}  # fmt: skip
"""Folders that are not the library's, that some distributions leave out, or that are tables."""

HELD_OUT_EVERY = 20
LEAST = 2**20


@dataclass(frozen=True)
class Text:
    """Bytes (uint8) to learn from, and bytes of other files to judge by; sha256 is of both."""

    training: np.ndarray
    held_out: np.ndarray
    sha256: str


def standard_library() -> Text:
    """Every file of the library in alphabetical order, then every topic; of these every 20th is held out."""
    root = Path(sysconfig.get_path("stdlib"))
    files = sorted(path for path in root.rglob("*.py") if not LEFT_OUT.intersection(path.relative_to(root).parts))
    pieces = [path.read_bytes() for path in files] + [topics.topics[name].encode() for name in sorted(topics.topics)]
    held_out = b"".join(pieces[::HELD_OUT_EVERY])
    training = b"".join(piece for number, piece in enumerate(pieces) if number % HELD_OUT_EVERY)
    if len(training) < LEAST:
        raise Refusal(f"{root} holds {len(training):,} bytes of Python sources, and {LEAST:,} are needed to learn from")
    sha256 = hashlib.sha256(training + held_out).hexdigest()
    return Text(np.frombuffer(training, np.uint8), np.frombuffer(held_out, np.uint8), sha256)
