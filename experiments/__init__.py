"""One module per probe, named after what it changes. `python -m experiments` lists them."""

import difflib
import importlib
import pkgutil

from playground import Probe, Refusal


def names() -> list[str]:
    """The probes, in alphabetical order: modules with a name that does not begin with an underscore."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def load(name: str) -> Probe:
    """The probe of that name, or a Refusal with the nearest name."""
    if name not in names():
        near = difflib.get_close_matches(name, names(), n=1, cutoff=0)
        raise Refusal(f"unknown probe {name!r}: did you mean {near[0]}?")
    return importlib.import_module(f"experiments.{name}").probe
