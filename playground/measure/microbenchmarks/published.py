"""What is published of these rates, with its source."""

from playground.compiler.arch import GPUS

GUIDE = "CUDA C++ Programming Guide"
EVERY_GPU = {
    "shared_wavefronts_per_cycle_sm": (1.0, f"{GUIDE}, Shared Memory: 32 banks, each of 32 bits per cycle"),
    "issue_per_cycle_sm": (4.0, f"{GUIDE}, Hardware Multithreading: 4 schedulers, each one instruction per cycle"),
    "ex2_per_cycle_sm": (16.0, f"{GUIDE}, Throughput of Native Arithmetic Instructions"),
}
FMA_LANES = {(7, 5): 64.0, (8, 0): 64.0}
FMA_LANES_OF_OTHERS = 128.0


def published(gpu_name: str, cc: tuple[int, int]) -> dict[str, tuple[float, str]]:
    """Rate -> (value, source). gpu_name: as the driver tells it."""
    lanes = FMA_LANES.get(cc, FMA_LANES_OF_OTHERS)
    known = EVERY_GPU | {"fma_per_cycle_sm": (lanes, f"{GUIDE}, Throughput of Native Arithmetic Instructions")}
    for gpu in GPUS.values():
        if gpu_name.endswith(f" {gpu.name}"):  # not the H200 NVL, nor the GB200, which are other products
            source = "the source of the seeds" if gpu.name == "GB10" else "data sheet"
            known["dram_bytes_per_second"] = (gpu.bandwidth, source)
    return known
