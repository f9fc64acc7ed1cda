"""The one exception that means "this cannot run, and here is why"."""

import difflib
from collections.abc import Iterable


class Refusal(Exception):
    """Bad input or a limit exceeded. The message is one line with the actual numbers; the command line exits with 2."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """What a Refusal of an unknown name goes on with: the nearest that is known, or nothing if none is near."""
    near = difflib.get_close_matches(name, known, n=1)
    return f": did you mean {near[0]}?" if near else ""
