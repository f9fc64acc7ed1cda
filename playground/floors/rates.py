"""Rates: the most that each GPU of the table does per cycle, second and multiprocessor.

Published, or measured where results/ holds a record of them (`python -m experiments.rates`). A floor is only a floor if
nothing is faster: of published figures the peaks count, of measured ones the best. What the architecture itself limits
(banks, schedulers, lanes) stays as published: a microbenchmark comes up to it and cannot pass it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from playground.compiler.arch import GPUS, SCHEDULERS, Arch

FMA_LANES = {(7, 5): 64, (8, 0): 64}
MOST_FMA_LANES = 128
SPECIAL_LANES = 16
"""Results per cycle and multiprocessor: CUDA C++ Programming Guide, "Arithmetic Instructions"."""


@dataclass(frozen=True)
class Tensor:
    """A data sheet's tensor peak, f16 in, f32 accumulated, dense: TFLOP/s = SMs × clock (Hz) × flop per SM and cycle.

    highest: the clock that the GPU may reach, where it is above the one that the data sheet reckons with.
    """

    tflops: float
    clock: float
    flop: int
    source: str
    highest: float | None = None


MHZ = 1e6

PUBLISHED = {
    "GB10": Tensor(125, 2543 * MHZ, 1024, "1 PFLOP/s of sparse FP4 is 125 of dense f16; torch reaches 97 on one"),
    "T4": Tensor(65, 1590 * MHZ, 1024, "NVIDIA T4 data sheet; Turing whitepaper: 8 tensor cores of 64 FMA per SM"),
    "A100": Tensor(312, 1410 * MHZ, 2048, "A100 whitepaper, table 1: 4 tensor cores of 256 FMA per SM"),
    "RTX 3090": Tensor(71, 1695 * MHZ, 512, "GA102 whitepaper, table 9: FP16 tensor with FP32 accumulate"),
    "RTX 4080": Tensor(97.5, 2505 * MHZ, 512, "Ada whitepaper, appendix: FP16 tensor with FP32 accumulate"),
    "RTX 4090": Tensor(165.2, 2520 * MHZ, 512, "Ada whitepaper, appendix: FP16 tensor with FP32 accumulate"),
    "H100": Tensor(989.4, 1830 * MHZ, 4096, "H100 whitepaper, table 2: the peak of wgmma", 1980 * MHZ),
    "H200": Tensor(989.4, 1830 * MHZ, 4096, "H200 data sheet: as the H100, the peak of wgmma", 1980 * MHZ),
    "B200": Tensor(2250, 1860 * MHZ, 8192, "HGX B200 data sheet: the peak of tcgen05", 1980 * MHZ),
    "RTX 5090": Tensor(209.5, 2407 * MHZ, 512, "RTX Blackwell whitepaper: FP16 tensor with FP32 accumulate"),
}

L2_BYTES_PER_CYCLE = {"A100": 5120}
"""What NVIDIA published: A100 whitepaper, "L2 cache"."""


@dataclass(frozen=True)
class Rates:
    """Per cycle and SM: tensor FLOP by instruction, shared wavefronts, warp instructions issued, lanes of f32 and of
    special functions. clock: Hz. l2, dram: bytes per second. Latencies and launch: seconds. None: not known.
    """

    clock: float
    wmma: float
    mma: float
    shared_wavefronts: float
    issue: float
    fma: float
    special: float
    l2: float | None
    dram: float
    dram_latency: float | None = None
    l2_latency: float | None = None
    launch: float = 0
    source: str = "published"

    @property
    def latencies_known(self) -> bool:
        return self.dram_latency is not None and self.l2_latency is not None


def published(gpu: str) -> Rates:
    """The rates of a GPU of the table by its data sheet."""
    tensor, arch = PUBLISHED[gpu], GPUS[gpu].arch
    clock = tensor.highest or tensor.clock
    return Rates(
        clock=clock,
        wmma=tensor.flop,
        mma=tensor.flop,
        shared_wavefronts=1,
        issue=SCHEDULERS,
        fma=fma_lanes(arch),
        special=SPECIAL_LANES,
        l2=L2_BYTES_PER_CYCLE[gpu] * clock if gpu in L2_BYTES_PER_CYCLE else None,
        dram=GPUS[gpu].bandwidth,
    )


def fma_lanes(arch: Arch) -> int:
    """Results of f32 fma per cycle and multiprocessor."""
    return FMA_LANES.get(arch.cc, MOST_FMA_LANES)


MEASURED = {
    "wmma": "wmma_flop_per_cycle_sm",
    "mma": "mma_sync_flop_per_cycle_sm",
    "l2": "l2_bytes_per_second",
    "dram": "dram_bytes_per_second",
    "dram_latency": "dram_latency_seconds",
    "l2_latency": "l2_latency_seconds",
    "launch": "launch_seconds",
}
"""Rate -> its key in a record of experiments/rates."""
CLOCK = "clock_hz"


def measured(gpu: str, record: Mapping) -> Rates:
    """The published rates, with those that `record` measured in their place; of the two clocks the higher."""
    values = {key: value for key, entry in record["rates"].items() if (value := entry.get("value") or 0) > 0}
    found = {name: values[key] for name, key in MEASURED.items() if key in values}
    by_data_sheet = published(gpu)
    clock = max(by_data_sheet.clock, values.get(CLOCK, 0))
    return replace(by_data_sheet, **found, clock=clock, source=f"measured {record['time'][:10]}")


def table_name(device: str) -> str | None:
    """The table's name of the GPU that a driver calls `device`: H200 of NVIDIA H200; None if it is not in the table."""
    return max((name for name in GPUS if name.lower() in device.lower()), key=len, default=None)
