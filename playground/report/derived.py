"""Which figures of the counts are told of a run: per FLOP of MMAs, or per byte where there are none."""

from collections.abc import Mapping

from playground.measure.figures import FIGURES

PER_FLOP = {
    "barriers per MFLOP": ".2f",
    "warp instructions per kFLOP": ".2f",
    "bytes staged by cp.async per kFLOP": ".2f",
    "shared bytes per kFLOP": ".2f",
    "shared wavefronts per kFLOP": ".3f",
    "shared conflict degree": ".2f",
}

PER_BYTE = {
    "warp instructions per kB": ".2f",
    "loads and stores per kB": ".2f",
    "sectors per load or store": ".2f",
    "used of each sector loaded": ".1%",
    "used of each sector stored": ".1%",
}


def derived(counts: Mapping[str, float]) -> dict[str, str]:
    """Name -> figure, from the totals of one launch."""
    formats = PER_FLOP if counts["mma_flop"] else PER_BYTE
    return {name: format(FIGURES[name](counts), how) for name, how in formats.items()}


def conflict_degree(counts: Mapping) -> str:
    """Shared wavefronts over those that the same accesses would take without bank conflicts."""
    return f"{FIGURES['shared conflict degree'](counts):.2f}"
