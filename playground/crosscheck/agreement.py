"""Does the emulator say what the GPU does?  Outputs compared element by element, counts with Nsight Compute's.

Each kernel runs on both with the same inputs. Needs a GPU, and for the counts `ncu` on the path.
"""

import csv
import shutil
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np

from playground.crosscheck import launches
from playground.errors import Refusal
from playground.floors.floor import HMMA_FLOP
from playground.kernels import Kernel, Pipeline
from playground.report import environment
from playground.report.tables import markdown, write_page

METRICS = {
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "hmma": "smsp__inst_executed_pipe_tensor_op_hmma.sum",
    "inst_executed": "smsp__inst_executed.sum",
}
"""Our name of a count -> Nsight Compute's."""

BOUNDS = {"gemm_nt": 64, "gemm_af32_nt": 64, "attention_hd128": 8192, "convert_f32_f16": 0, "store_kv_f16": 0}
"""How far the outputs may differ, in units in the last place of the largest one.

Both sum in f32, but in another order and with other rounding: one unit for each step of 8 of a GEMM's 512 products. The
weights of attention are rounded to f16 in between: one step of f16 is 8192 of f32. Conversions are exact.
"""

DIFFERENCES = """\
- `inst_executed`: the emulator counts PTX, Nsight Compute the machine code that ptxas made of it.
- `shared_load_wavefronts`: ptxas joins two loads of 4 bytes in the softmax by rows to one of 8.
- `global_load_sectors` holds those of cp.async, as in Nsight Compute.
- max ULP: the largest difference of outputs, in units in the last place of the largest output. It may be {bounds}."""


def compare(device, kernels: Sequence[Kernel | Pipeline]) -> dict:
    """Per kernel: the largest difference of outputs in units in the last place, and both sides' counts.

    A unit in the last place is that of the largest value of the output, which sums of random products share.
    """
    profiled = profile([len(kernel.steps) for kernel in kernels])
    compared = []
    for position, kernel in enumerate(kernels):
        dims = kernel.contract.emulated[-1]
        emulated, launched = launches.emulated(device, kernel, dims), launches.on_gpu(device, kernel, dims)
        ours, theirs = (next(iter(outcome.outputs.values())) for outcome in (emulated, launched))
        unit = np.spacing(np.abs(theirs).max())
        compared.append(
            {
                "label": str(kernel),
                "dims": dict(dims),
                "max_ulp": float(np.abs(ours.astype(np.float64) - theirs).max() / unit),
                "bound_ulp": BOUNDS[kernel.contract.name],
                "emulator": counted(emulated.counts),
                "ncu": profiled[position] if profiled else None,
            }
        )
    return {**environment.of_run(device), "kernels": compared}


def within_bounds(found: dict) -> bool:
    """Whether every kernel's outputs agree."""
    return all(kernel["max_ulp"] <= kernel["bound_ulp"] for kernel in found["kernels"])


def launch_all(device, kernels: Sequence[Kernel | Pipeline]) -> None:
    """Run each kernel once, in order: what `profile` runs under ncu."""
    for kernel in kernels:
        launches.on_gpu(device, kernel, kernel.contract.emulated[-1])


def profile(numbers: Sequence[int]) -> list[dict[str, int]] | None:
    """Nsight Compute's counts of kernels that make these numbers of launches, in order; None without ncu."""
    ncu = shutil.which("ncu")
    if ncu is None:
        return None
    metrics = ",".join(METRICS.values())
    done = launches.watched([ncu, "--clock-control", "none", "--csv", "--metrics", metrics], "agree")
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    if done.returncode or not lines:
        raise launches.failure("ncu", done)
    found = _by_launch(list(csv.DictReader(lines)))
    if len(found) != sum(numbers):
        raise Refusal(f"ncu saw {len(found)} launches, of {sum(numbers)}")
    return [_summed(found[end - number : end]) for end, number in zip(accumulate(numbers), numbers)]


def as_markdown(found: dict) -> str:
    """The comparison as a table: emulator / Nsight Compute, and their ratio where they differ."""
    columns = ["kernel", "max ULP", *METRICS]
    rows = []
    for kernel in found["kernels"]:
        cells = [_cell(kernel["emulator"][name], kernel["ncu"] and kernel["ncu"][name]) for name in METRICS]
        rows.append([f"`{kernel['label']}`", f"{kernel['max_ulp']:.2g}", *cells])
    return markdown(columns, rows)


def write_table(found: dict, path: Path) -> None:
    """The Markdown table with its head and what explains the differences, to `path`."""
    gpu, commit = found["gpu"]["name"], environment.abbreviated(found)
    head = f"Emulator / Nsight Compute; `=` where they are equal. Commit {commit}."
    bounds = ", ".join(f"{bound:,} for {contract}" for contract, bound in BOUNDS.items())
    write_page(path, f"# The emulator against the {gpu}", head, as_markdown(found), DIFFERENCES.format(bounds=bounds))


def counted(counts) -> dict[str, int]:
    """Our counts under the names of METRICS."""
    found = {name: counts.get(name, 0) for name in METRICS}
    found["global_load_sectors"] += counts.get("global_cp_async_sectors", 0)  # Nsight Compute counts both as loads
    found["hmma"] = counts.get("mma_flop", 0) // HMMA_FLOP
    return found


def _by_launch(rows: list[dict[str, str]]) -> list[dict[str, int]]:
    ours = {theirs: name for name, theirs in METRICS.items()}
    found: dict[int, dict[str, int]] = {}
    for row in rows:
        value = int(float(row["Metric Value"].replace(",", "")))
        found.setdefault(int(row["ID"]), {})[ours[row["Metric Name"]]] = value
    return [found[number] for number in sorted(found)]


def _summed(counts: Sequence[dict[str, int]]) -> dict[str, int]:
    return {name: sum(one[name] for one in counts) for name in METRICS}


def _cell(ours: int, theirs: int | None) -> str:
    if theirs is None:
        return f"{ours:,} / –"
    if ours == theirs:
        return f"{ours:,} ="
    return f"{ours:,} / {theirs:,}" + (f" ({theirs / ours:.3f})" if ours else "")
