"""One module per probe, named after what it changes. `python -m experiments` lists them."""

import importlib
import re
from pathlib import Path

from playground import Probe, Refusal
from playground.errors import did_you_mean
from playground.kernels import Kernel, Pipeline

FOLDER = Path(__file__).parent
ASSIGNS_PROBE = re.compile(r"^probe\b.*=", re.MULTILINE)


def names() -> list[str]:
    """The probes, in alphabetical order: modules that assign `probe`, told by their text, so that none is imported."""
    modules = (path for path in FOLDER.glob("[!_]*.py") if ASSIGNS_PROBE.search(path.read_text(encoding="utf-8")))
    return sorted(path.stem for path in modules)


def load(name: str) -> Probe:
    """The probe of that name, or a Refusal with the nearest name."""
    if name not in names():
        if (FOLDER / f"{name}.py").exists():
            raise Refusal(f"{name} is not a probe: run python -m experiments.{name}")
        guess = did_you_mean(name, names()) or ": see python -m experiments"
        raise Refusal(f"unknown probe {name!r}{guess}")
    return importlib.import_module(f"experiments.{name}").probe


def claims() -> dict[str, dict | None]:
    """What the source claims of each probe, as in a record; None where it claims nothing."""
    return {name: vars(claim) if (claim := load(name).claim) else None for name in names()}


def statements() -> dict[str, list[dict]]:
    """The mechanisms of each probe, as in a record."""
    return {name: load(name).statements() for name in names()}


def kernels() -> list[Kernel | Pipeline]:
    """Every kernel of every probe, once."""
    return list({str(kernel): kernel for name in names() for kernel in load(name).kernels}.values())
