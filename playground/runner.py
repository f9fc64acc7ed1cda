"""What the two runners, gpu/ and emulator/, have in common: a problem's arrays, on which builds run.

Each offers a workspace, a context manager made of a contract and its inputs, whose `run(build)` returns an Outcome; and
arrays that many launches share: place, allocate, write, read, row, launch(build, tensors, dims), require.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

POISON = 0xFF
"""What outputs are filled with before a run, byte by byte: as f16, f32 or f64 it is NaN."""


@dataclass(frozen=True)
class Outcome:
    """One run: the outputs by name, and how many bytes changed outside all arrays (checked in guards around them).

    hazards and counts: what the emulator saw, as it goes into the record; empty on a GPU, which cannot tell.
    """

    outputs: Mapping[str, np.ndarray]
    written_outside: int = 0
    hazards: Sequence[dict] = ()
    counts: Mapping[str, float] = field(default_factory=dict)
