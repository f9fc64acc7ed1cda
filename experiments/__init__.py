"""One module per probe, named after what it changes. `python -m experiments` lists them."""

import difflib
import importlib
import re
from pathlib import Path

from playground import Probe, Refusal

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
        near = difflib.get_close_matches(name, names(), n=1, cutoff=0)
        raise Refusal(f"unknown probe {name!r}: did you mean {near[0]}?")
    return importlib.import_module(f"experiments.{name}").probe
