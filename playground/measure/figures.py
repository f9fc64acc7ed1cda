"""Figures of the emulator's counts: what makes two kernels comparable, per FLOP of MMAs, per byte, or in all."""

from collections.abc import Mapping

SHARED = ("load", "store", "cp_async", "atomic")
GLOBAL = ("load", "store")


def shared(counts: Mapping, what: str) -> float:
    """Bytes, wavefronts or wavefronts_ideal of every way to access shared memory."""
    return sum(counts.get(f"shared_{how}_{what}", 0) for how in SHARED)


def accesses(counts: Mapping) -> float:
    """Loads and stores of global memory, per warp."""
    return counts.get("inst_executed_ld_global", 0) + counts.get("inst_executed_st_global", 0)


def _global(counts: Mapping, what: str) -> float:
    return sum(counts[f"global_{how}_{what}"] for how in GLOBAL)


def _per_kflop(count: str):
    return lambda counts: counts.get(count, 0) / counts["mma_flop"] * 1e3


FIGURES = {
    "barriers per MFLOP": lambda counts: counts["barriers"] / counts["mma_flop"] * 1e6,
    "MMAs per barrier": lambda counts: counts["mma_executed"] / counts["barriers"],
    "warp instructions per kFLOP": _per_kflop("inst_executed"),
    "shuffles per kFLOP": _per_kflop("inst_executed_warp"),
    "bytes staged by cp.async per kFLOP": _per_kflop("shared_cp_async_bytes"),
    "bytes read of A per kFLOP": lambda counts: counts["global_bytes_read_of_A"] / counts["mma_flop"] * 1e3,
    "bytes read of B per kFLOP": lambda counts: counts["global_bytes_read_of_B"] / counts["mma_flop"] * 1e3,
    "shared bytes per kFLOP": lambda counts: shared(counts, "bytes") / counts["mma_flop"] * 1e3,
    "shared wavefronts per kFLOP": lambda counts: shared(counts, "wavefronts") / counts["mma_flop"] * 1e3,
    "shared conflict degree": lambda counts: shared(counts, "wavefronts") / shared(counts, "wavefronts_ideal"),
    "conflict degree of shared loads": lambda counts: counts["shared_load_conflict_degree"],
    "conflict degree of shared stores": lambda counts: counts["shared_store_conflict_degree"],
    "fragment loads per MMA": lambda counts: counts["wmma_load_executed"] / counts["mma_executed"],
    "MMAs": lambda counts: counts["mma_executed"],
    "warp instructions": lambda counts: counts["inst_executed"],
    "warp instructions per kB": lambda counts: counts["inst_executed"] / _global(counts, "bytes") * 1e3,
    "loads and stores": accesses,
    "loads and stores per kB": lambda counts: accesses(counts) / _global(counts, "bytes") * 1e3,
    "sectors per load or store": lambda counts: _global(counts, "sectors") / accesses(counts),
    "used of each sector loaded": lambda counts: counts["global_load_utilisation"],
    "used of each sector stored": lambda counts: counts["global_store_utilisation"],
}
"""Name -> figure, from the counts of one launch."""
