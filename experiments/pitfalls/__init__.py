"""The mistakes that the source paid for, each made on purpose in the real kernels, seen, and caught by its gate.

`python -m experiments.pitfalls` makes them all, `python -m experiments.pitfalls <name>` one.
"""

import importlib

from experiments.pitfalls._pitfall import HAZARD, Pitfall
from playground import Refusal
from playground.errors import did_you_mean
from playground.kernels import Kernel

NAMES = (
    "b_offset_by_rows",
    "half_of_k",
    "both_row_major",
    "bare_barrier",
    "staging_stride",
    "contiguous_masks",
    "silent_fallback",
    "launcher_formula",
    "forgotten_write_back",
    "unpadded_rows",
    "missing_barrier",
    "no_control",
    "zero_inputs",
    "warm_cache",
)
"""First what makes a wrong result, then what only costs, then what only misleads."""


def load(name: str) -> Pitfall:
    """The pitfall of that name, or a Refusal with the nearest name."""
    if name not in NAMES:
        guess = did_you_mean(name, NAMES) or f": they are {', '.join(NAMES)}"
        raise Refusal(f"unknown pitfall {name!r}{guess}")
    return importlib.import_module(f"{__name__}.{name}").pitfall


def hazardous_kernels() -> list[Kernel]:
    """The kernels with a mistake that the emulator sees as a hazard, called by the pitfall's name."""
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in NAMES if load(name).gate == HAZARD}
    return [module.pair.wrong(mistake=name) for name, module in modules.items()]


def examine(name: str) -> dict:
    """Make that mistake, without a GPU; its part of the record."""
    return load(name).as_record(name)
