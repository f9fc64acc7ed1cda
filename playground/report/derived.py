"""What makes the emulator's counts of variants comparable: per FLOP of MMAs, or per byte where there are none."""

from collections.abc import Mapping

SHARED = ("load", "store", "cp_async", "atomic")
GLOBAL = ("load", "store")


def derived(counts: Mapping[str, float]) -> dict[str, str]:
    """Name -> figure, from the totals of one launch."""
    figures = PER_FLOP if counts["mma_flop"] else PER_BYTE
    return {name: figure(counts) for name, figure in figures.items()}


def shared(counts: Mapping, what: str) -> float:
    """Bytes, wavefronts or wavefronts_ideal of every way to access shared memory."""
    return sum(counts.get(f"shared_{how}_{what}", 0) for how in SHARED)


def _global(counts: Mapping, what: str) -> float:
    return sum(counts[f"global_{how}_{what}"] for how in GLOBAL)


def conflict_degree(counts: Mapping) -> str:
    """Shared wavefronts over those that the same accesses would take without bank conflicts."""
    return f"{shared(counts, 'wavefronts') / shared(counts, 'wavefronts_ideal'):.2f}"


def _accesses(counts: Mapping) -> float:
    return counts.get("inst_executed_ld_global", 0) + counts.get("inst_executed_st_global", 0)


PER_FLOP = {
    "barriers per MFLOP": lambda counts: f"{counts['barriers'] / counts['mma_flop'] * 1e6:.2f}",
    "warp instructions per kFLOP": lambda counts: f"{counts['inst_executed'] / counts['mma_flop'] * 1e3:.2f}",
    "bytes staged by cp.async per kFLOP": lambda counts: (
        f"{counts.get('shared_cp_async_bytes', 0) / counts['mma_flop'] * 1e3:.2f}"
    ),
    "shared bytes per kFLOP": lambda counts: f"{shared(counts, 'bytes') / counts['mma_flop'] * 1e3:.2f}",
    "shared wavefronts per kFLOP": lambda counts: f"{shared(counts, 'wavefronts') / counts['mma_flop'] * 1e3:.3f}",
    "shared conflict degree": conflict_degree,
}

PER_BYTE = {
    "warp instructions per kB": lambda counts: f"{counts['inst_executed'] / _global(counts, 'bytes') * 1e3:.2f}",
    "loads and stores per kB": lambda counts: f"{_accesses(counts) / _global(counts, 'bytes') * 1e3:.2f}",
    "sectors per load or store": lambda counts: f"{_global(counts, 'sectors') / _accesses(counts):.2f}",
    "used of each sector loaded": lambda counts: f"{counts['global_load_utilisation']:.1%}",
    "used of each sector stored": lambda counts: f"{counts['global_store_utilisation']:.1%}",
}
