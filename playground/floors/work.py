"""Work: what of a launch's counts takes time on a GPU whatever ptxas makes of the PTX.

ptxas merges moves, address arithmetic, comparisons and mul + add, so PTX instructions are no bound on machine
instructions. Counted is what it cannot remove: accesses to memory, copies, MMAs, shuffles and votes, barriers, special
functions, and of f32 arithmetic each fma, and each mul or add that finds no partner. It may join two shared loads of 4
bytes: on the kernels of the probes that is at most 5 % of the wavefronts (results/nvidia-h200/emulator_agreement.md).
"""

from collections import Counter

from playground.emulator.classify import classify, flop
from playground.emulator.counts import Counts

ONE_SLOT = (
    "ld_shared",
    "st_shared",
    "ld_global",
    "st_global",
    "cp_async",
    "atomic",
    "warp",
    "barrier",
    "special_function",
)
"""Classes of instructions that become at least one machine instruction each."""

WAVEFRONTS = ("load_wavefronts", "store_wavefronts", "atomic_wavefronts", "cp_async_wavefronts_ideal")
"""What passes through the banks. Of conflicts of cp.async no profiler has told: counted as if there were none."""


def work_of(counts: Counts) -> dict[str, int]:
    """The work of an emulated launch, summed over all its warps.

    shared_wavefronts. one_slot: instructions that cannot vanish, but for MMAs and f32. fma, mul, add: those of f32.
    special: of special functions. wmma_flop, mma_flop. loaded, copied, stored: bytes of global memory asked for by
    loads, by cp.async, by stores and atomics, each counted once per warp and instruction.
    """
    total = counts.total()
    executed = Counter()
    for instruction, warps in zip(counts.instructions, counts.table["inst_executed"].tolist()):
        for name in _units(instruction):
            executed[name] += warps
        if operations := flop(instruction):
            executed[f"{instruction.name}_flop"] += warps * operations
    return {
        "shared_wavefronts": sum(total[f"shared_{how}"] for how in WAVEFRONTS),
        "one_slot": executed["one_slot"],
        **{name: executed[name] for name in ("fma", "mul", "add", "special", "wmma_flop", "mma_flop")},
        "loaded": total["global_load_bytes"],
        "copied": total["global_cp_async_bytes"],
        "stored": total["global_store_bytes"] + total["global_atomic_bytes"],
    }


def _units(instruction):
    """What an instruction takes, by the names of `work_of`; nothing if ptxas may do without it."""
    kind = classify(instruction)
    if (
        kind in ONE_SLOT
        or instruction.opcode[:2] in (("wmma", "load"), ("wmma", "store"))
        or "matrix" in instruction.name
    ):
        yield "one_slot"
    if kind == "special_function":
        yield "special"
    if kind == "float" and instruction.type == "f32" and instruction.name in ("fma", "mul", "add", "sub"):
        yield "add" if instruction.name == "sub" else instruction.name
