"""Builds on disk, under a key made of all that went into them.

The folder is $PLAYGROUND_CACHE, or `numba-playground` in the user's cache folder. A folder that cannot be written means
that builds are not kept, no more; an entry that cannot be read is built again.
"""

import contextlib
import hashlib
import json
import os
import tempfile
from functools import cache
from importlib import metadata
from inspect import iscode, ismodule
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
SOURCES = ("ptx", "kernels", "compiler")
TOOLS = ("numba", "numba-cuda", "llvmlite", "cuda-bindings", "nvidia-nvvm", "nvidia-nvjitlink", "nvidia-cuda-nvdisasm")


def folder() -> Path:
    """Where the builds are kept."""
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "numba-playground"
    return Path(os.environ.get("PLAYGROUND_CACHE") or default)


def key(function, *parts) -> str:
    """A digest of the function's code and what it closes over, the compiler's sources and tools, and `parts`."""
    digest = hashlib.sha256(_environment().encode())
    for part in (*_fingerprint(function), *parts):
        digest.update(repr(part).encode() + b"\0")
    return digest.hexdigest()


def load(digest: str) -> dict | None:
    """The entry stored under `digest`, or None if there is none or it is not whole."""
    try:
        entry = json.loads((folder() / f"{digest}.json").read_text())
        return entry["entry"] if entry["checksum"] == _checksum(entry["entry"]) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def store(digest: str, entry: dict) -> dict:
    """Keep `entry`, whole or not at all, and return it; or the one that another process kept meanwhile.

    Two builds of one kernel differ in the names that Numba gives symbols: the first one is everybody's.
    """
    if meanwhile := load(digest):
        return meanwhile
    with contextlib.suppress(OSError):
        folder().mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=folder(), suffix=".tmp", delete=False) as file:
            temporary = Path(file.name)
            try:
                json.dump({"entry": entry, "checksum": _checksum(entry)}, file)
                file.close()
                os.replace(temporary, folder() / f"{digest}.json")
            finally:
                temporary.unlink(missing_ok=True)
    return entry


def _checksum(entry) -> str:
    return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()


@cache
def _environment() -> str:
    digest = hashlib.sha256(str(PACKAGE).encode())
    for source in sorted(path for part in SOURCES for path in (PACKAGE / part).rglob("*.py")):
        digest.update(source.read_bytes())
    for tool in TOOLS:
        with contextlib.suppress(metadata.PackageNotFoundError):
            digest.update(f"{tool} {metadata.version(tool)}".encode())
    return digest.hexdigest()


def _fingerprint(value, seen=()):
    """Code, constants and closure of a function, down through the device functions it calls."""
    function = getattr(value, "py_func", value)
    if not hasattr(function, "__code__"):
        yield value if isinstance(value, (int, float, str, bytes, tuple, bool, type(None))) else str(value)
    elif function not in seen:
        code = function.__code__
        yield code.co_filename, code.co_firstlineno
        yield from _code(code)
        yield function.__defaults__, function.__kwdefaults__
        for cell in function.__closure__ or ():
            yield from _fingerprint(cell.cell_contents, (*seen, function))
        names = _names(code)
        for name in sorted(names & function.__globals__.keys()):
            reached = function.__globals__[name]
            members = (
                [vars(reached)[member] for member in sorted(names & vars(reached).keys())] if ismodule(reached) else []
            )
            for found in (reached, *members):
                yield from _fingerprint(found, (*seen, function))


def _code(code):
    """Instructions and constants of a code object and of those nested in it."""
    yield code.co_code, code.co_names
    for constant in code.co_consts:
        if iscode(constant):
            yield from _code(constant)
        else:
            yield constant


def _names(code) -> set[str]:
    """The global and attribute names that a code object mentions, or one nested in it."""
    return {*code.co_names}.union(*(_names(constant) for constant in code.co_consts if iscode(constant)))
