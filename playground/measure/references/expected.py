"""What an output should be."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Expected:
    """The exact values and the tolerance of each, and where the tolerance comes from."""

    values: np.ndarray
    tolerance: np.ndarray
    source: str

    def rounded_to_f16(self) -> "Expected":
        """The same for an output that is rounded to f16 at the end: half a unit in the last place more."""
        tolerance = self.tolerance + np.abs(self.values) * 2.0**-11 + 2.0**-25
        return Expected(self.values, tolerance, f"{self.source}, rounded to f16")
