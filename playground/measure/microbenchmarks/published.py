"""What is published of these rates, with its source."""

from playground.compiler.arch import GPUS, SCHEDULERS, Arch
from playground.floors.rates import SPECIAL_LANES, fma_lanes

GUIDE = "CUDA C++ Programming Guide"
ARITHMETIC = f"{GUIDE}, Throughput of Native Arithmetic Instructions"


def published(gpu_name: str, arch: Arch) -> dict[str, tuple[float, str]]:
    """Rate -> (value, source). gpu_name: as the driver tells it."""
    known = {
        "shared_wavefronts_per_cycle_sm": (1, f"{GUIDE}, Shared Memory: 32 banks, each of 32 bits per cycle"),
        "issue_per_cycle_sm": (SCHEDULERS, f"{GUIDE}, Hardware Multithreading: schedulers, one instruction per cycle"),
        "ex2_per_cycle_sm": (SPECIAL_LANES, ARITHMETIC),
        "fma_per_cycle_sm": (fma_lanes(arch), ARITHMETIC),
    }
    for gpu in GPUS.values():
        if gpu_name.endswith(f" {gpu.name}"):  # not the H200 NVL, nor the GB200, which are other products
            source = "the source of the seeds" if gpu.name == "GB10" else "data sheet"
            known["dram_bytes_per_second"] = (gpu.bandwidth, source)
    return known
