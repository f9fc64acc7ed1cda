"""Records: one JSON line per run, in results/<gpu>/<probe>.jsonl.

A record is appended with a single write under a lock, so a killed run leaves all earlier lines as they were. A line cut
short (a full disk, a lost machine) is skipped and named; the next record starts on a line of its own.
"""

import errno
import fcntl
import json
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path

from playground.errors import Refusal

SCHEMA = 1

RUN = {"commit", "dirty", "versions", "gpu"}
PROBE = {"time", "probe", "question", "claim", "predictions", "bar", "share", "contract", "variants", "emulated"}
KINDS = {
    "probe": RUN | PROBE | {"shapes", "verdicts"},
    "lane maps": RUN | {"time", "probe", "dumps"},
    "rates": RUN | {"time", "probe", "rates", "checks"},
    "wall of the prefill": RUN | {"time", "probe", "model", "tokens", "configurations", "budgets", "wall"},
    "greedy decoding": RUN | {"time", "probe", "model", "configurations", "prompts", "decoded", "checks"},
    "compute-sanitizer": RUN | {"time", "sanitized", "wrong"},
    "pitfalls": RUN | {"time", "pitfalls"},
    "agreement with a GPU": RUN | {"kernels"},
}
"""What a record is of -> the keys that it has."""


def prepare(path: Path) -> None:
    """Make sure, before the work, that a record can be appended to `path` later."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()
    except OSError as error:
        raise Refusal(f"cannot write results to {path}: {error.strerror}") from error


def dumps(record: dict) -> str:
    """The record as one line of JSON. Numbers that are not finite, which JSON does not have, become null."""
    return json.dumps(_finite({"schema": SCHEMA, **record}), ensure_ascii=False, allow_nan=False)


def append(path: Path, record: dict) -> None:
    """Append one record and flush it to the disk."""
    line = dumps(record).encode(errors="replace") + b"\n"  # a folder's name need not be UTF-8
    try:
        with path.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            end = file.seek(0, os.SEEK_END)
            if end:
                file.seek(end - 1)
                line = line if file.read(1) == b"\n" else b"\n" + line
            if os.write(file.fileno(), line) != len(line):
                os.ftruncate(file.fileno(), end)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file.fileno())
    except OSError as error:
        raise Refusal(f"cannot write results to {path}: {error.strerror}") from error


def read(path: Path) -> tuple[list[dict], list[str]]:
    """(records, warnings): a line that is not a whole record is a warning; a record of a newer schema is refused."""
    records, warnings = [], []
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise Refusal(f"cannot read results from {path}: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            newer = record["schema"] > SCHEMA
        except (ValueError, KeyError, TypeError, RecursionError):
            warnings.append(f"{path}:{number}: not a record ({len(line):,} bytes, cut short?), skipped")
            continue
        if newer:
            raise Refusal(f"{path}:{number}: record of schema {record['schema']}, this version reads up to {SCHEMA}")
        if missing := _missing(record):
            warnings.append(f"{path}:{number}: not a whole record (without {', '.join(sorted(missing))}), skipped")
            continue
        records.append(record)
    return records, warnings


def latest(path: Path, wanted: Callable[[dict], bool] = lambda record: True) -> dict | None:
    """The last record of the file that is wanted, None if it has none; warnings go to standard error."""
    records, warnings = read(path)
    for warning in warnings:
        print(warning, file=sys.stderr)
    return next(filter(wanted, reversed(records)), None)


def _missing(record: dict) -> set[str]:
    """The keys that the record lacks of the kind that it comes closest to: that lacks fewest, then that has most."""
    nearest = min(KINDS.values(), key=lambda kind: (len(kind - record.keys()), -len(kind & record.keys())))
    return nearest - record.keys()


def _finite(value):
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
