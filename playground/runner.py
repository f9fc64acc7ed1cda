"""What the two runners, gpu/ and emulator/, have in common: a problem's arrays, on which builds run.

A runner offers `workspace(contract, inputs)`, a context manager whose `run(build)` returns an Outcome.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Outcome:
    """One run: the outputs by name, and how many bytes changed outside all arrays (checked in guards around them)."""

    outputs: Mapping[str, np.ndarray]
    written_outside: int = 0
