"""compute-sanitizer over kernels on the GPU, beside the hazards that the emulator sees in the same launches.

The correct ones should be clean; the wrong ones show what each tool can see, and that it looked.

Each tool watches one process that launches every kernel, all tools at once. Only if it finds something are the kernels
launched again, one to a process, to tell whose it is. Outputs are filled with NaN by a memset, which initcheck takes
for initialised.
"""

import re
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from playground.compiler.tools import find_tool
from playground.crosscheck import launches
from playground.errors import Refusal
from playground.kernels import Kernel, Pipeline
from playground.report import environment
from playground.report.tables import markdown, write_page

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
FAULT = "fault"
AT_ONCE = 2 * len(TOOLS)
"""Processes, which mostly compile and wait."""
SUMMARY = re.compile(r"^=+ (?:ERROR|RACECHECK) SUMMARY: (\d+) (?:error|hazard)s?\b", re.MULTILINE)


def find() -> str:
    """The path of compute-sanitizer, or a Refusal."""
    tool = find_tool("compute-sanitizer")
    if tool is None:
        raise Refusal("compute-sanitizer was not found (pip install nvidia-cuda-sanitizer-api)")
    return tool


def sanitize(tool: str, device, kernels: Sequence[Kernel | Pipeline], wrong: Sequence[Kernel | Pipeline]) -> dict:
    """The record: per kernel, on the shapes of its contract, the emulator's hazards and the errors of each tool."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        of_right = pool.map(lambda name: _errors_by_kernel(tool, name, kernels), TOOLS)
        of_wrong = pool.map(lambda name: _errors_one_by_one(tool, name, wrong), TOOLS)
        errors, errors_of_wrong = dict(zip(TOOLS, of_right)), dict(zip(TOOLS, of_wrong))
    return {
        **environment.of_run(device, {"compute-sanitizer": _version(tool)}),
        "sanitized": [_found(device, kernel, errors) for kernel in kernels],
        "wrong": [_found(device, kernel, errors_of_wrong) for kernel in wrong],
    }


def launch_all(device, kernels: Sequence[Kernel | Pipeline]) -> None:
    """Launch each kernel once on each of its contract's shapes: what compute-sanitizer watches."""
    for kernel in kernels:
        for dims in kernel.contract.emulated:
            launches.on_gpu(device, kernel, dims)


def errors_in(output: str) -> int | None:
    """How many errors or hazards compute-sanitizer's output sums up; None if it does not come to that."""
    found = SUMMARY.findall(output)
    return sum(map(int, found)) if found else None


def clean(found: Mapping) -> bool:
    """Whether neither the emulator nor any tool found anything, in kernels that are right."""
    return not any(one["hazards"] or any(one["errors"].values()) for one in found["sanitized"])


def sees(found: Mapping) -> bool:
    """Whether some tool found something in a kernel that is wrong."""
    return any(any(one["errors"].values()) for one in found["wrong"])


def as_markdown(found: Mapping) -> str:
    """A row per kernel, the wrong ones in a table of their own."""
    return f"{_table('kernel', found['sanitized'])}\n\n{_table('wrong kernel', found['wrong'])}"


def write_table(found: Mapping, path: Path) -> None:
    """The table with its head, to `path`."""
    gpu, commit = found["gpu"]["name"], environment.abbreviated(found)
    title = f"# compute-sanitizer {found['versions']['compute-sanitizer']} on the {gpu}"
    head = f"Hazards and errors per kernel, on its contract's shapes. Commit {commit}."
    write_page(path, title, head, as_markdown(found))


def _errors_by_kernel(tool: str, name: str, kernels: Sequence[Kernel | Pipeline]) -> dict[str, int | str]:
    if _errors(tool, name) == 0:
        return dict.fromkeys(map(str, kernels), 0)
    return _errors_one_by_one(tool, name, kernels)


def _errors_one_by_one(tool: str, name: str, kernels: Sequence[Kernel | Pipeline]) -> dict[str, int | str]:
    return {str(kernel): _errors(tool, name, "--kernel", str(kernel)) for kernel in kernels}


def _errors(tool: str, name: str, *options: str) -> int | str:
    """The errors that the tool of that name finds in a process that launches.

    FAULT if it finds none and the GPU stopped the kernel: racecheck does not look at what memcheck would have told.
    """
    done = launches.watched([tool, "--tool", name, "--target-processes", "application-only"], "sanitize", *options)
    errors = errors_in(done.stdout)
    if errors == 0 and "DriverError" in done.stderr + done.stdout:
        return FAULT
    if errors is None or (done.returncode and not errors):
        raise launches.failure(name, done)
    return errors


def _found(device, kernel: Kernel | Pipeline, errors: Mapping[str, Mapping[str, int]]) -> dict:
    return {
        "label": str(kernel),
        "dims": [dict(dims) for dims in kernel.contract.emulated],
        "hazards": _hazards(device, kernel),
        "errors": {name: errors[name][str(kernel)] for name in TOOLS},
    }


def _table(title: str, found: Sequence[Mapping]) -> str:
    columns = (title, "emulator's hazards", *TOOLS)
    return markdown(
        columns, [(f"`{one['label']}`", *map(str, (one["hazards"], *one["errors"].values()))) for one in found]
    )


def _hazards(device, kernel: Kernel | Pipeline) -> int:
    return sum(len(launches.emulated(device, kernel, dims).hazards) for dims in kernel.contract.emulated)


def _version(tool: str) -> str:
    said = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout
    found = re.search(r"Version (\S+)", said)
    return found.group(1) if found else "unknown"
