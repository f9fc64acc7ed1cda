"""Under what a run ran: commit, versions, GPU."""

import os
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from types import MappingProxyType

PACKAGES = ("numba", "numba-cuda", "cuda-bindings", "numpy", "torch")


def of_run(device, tools: Mapping[str, str | None] = MappingProxyType({})) -> dict:
    """What every record begins with: the time, the commit, the versions (those of `tools` too) and the GPU."""
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        **commit(),
        "versions": versions() | dict(tools),
        "gpu": gpu(device),
    }


def versions() -> dict[str, str | None]:
    """Version of Python and of each package that can move a result; None if absent."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


def commit() -> dict:
    """The commit of the checkout and whether its code differs from it.

    Where the code was copied without its history, $PLAYGROUND_COMMIT may name the commit instead.
    """
    root = Path(__file__).parents[2]

    def git(*arguments):
        return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True).stdout

    try:
        changed = git("status", "--porcelain", "--", "playground", "experiments")
        return {"commit": git("rev-parse", "HEAD").strip(), "dirty": bool(changed.strip())}
    except (OSError, subprocess.CalledProcessError):
        return {"commit": os.environ.get("PLAYGROUND_COMMIT"), "dirty": None}


def abbreviated(record: Mapping) -> str:
    """The commit of a record, as pages name it."""
    return (record["commit"] or "unknown")[:8]


def gpu(device) -> dict | None:
    """The GPU as it goes into a record; None without one."""
    if device is None:
        return None
    return {
        "name": device.name,
        "arch": device.arch.name,
        "sms": device.sms,
        "l2_bytes": device.l2,
        "cuda_driver": device.driver_version,
    }
