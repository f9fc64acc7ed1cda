"""The GPUs that the playground knows, and how many blocks of a kernel one of their multiprocessors holds.

Limits: CUDA C++ Programming Guide, "Compute Capabilities: Technical Specifications per Compute Capability". Products:
their data sheets; the GB10: the source of the seeds, measured there; the L2 of the H200: as its driver tells it.
"""

from dataclasses import dataclass

from playground.errors import Refusal, did_you_mean

WARP = 32
REGISTERS_PER_SM = 65536
REGISTER_UNIT = 256
SCHEDULERS = 4
SHARED_UNIT = 128
THREADS_PER_BLOCK = 1024


@dataclass(frozen=True)
class Arch:
    """The limits of one compute capability; shared memory in bytes, `reserved` of it taken from each block."""

    cc: tuple[int, int]
    threads_per_sm: int
    blocks_per_sm: int
    shared_per_sm: int
    shared_per_block: int
    reserved: int = 1024

    @property
    def name(self) -> str:
        return f"sm_{self.cc[0]}{self.cc[1]}"


@dataclass(frozen=True)
class Gpu:
    """A product: architecture and what belongs to the chip. l2: bytes. bandwidth of its memory: bytes per second."""

    name: str
    arch: Arch
    sms: int
    l2: int
    bandwidth: float


KB, MB, GB = 1024, 1024**2, 1e9

ARCHS = {
    arch.name: arch
    for arch in (
        Arch((7, 5), 1024, 16, 64 * KB, 64 * KB, reserved=0),
        Arch((8, 0), 2048, 32, 164 * KB, 163 * KB),
        Arch((8, 6), 1536, 16, 100 * KB, 99 * KB),
        Arch((8, 9), 1536, 24, 100 * KB, 99 * KB),
        Arch((9, 0), 2048, 32, 228 * KB, 227 * KB),
        Arch((10, 0), 2048, 32, 228 * KB, 227 * KB),
        Arch((12, 0), 1536, 24, 100 * KB, 99 * KB),
        Arch((12, 1), 1536, 24, 100 * KB, 99 * KB),
    )
}

GPUS = {
    gpu.name: gpu
    for gpu in (
        Gpu("GB10", ARCHS["sm_121"], 48, 24 * MB, 273 * GB),
        Gpu("T4", ARCHS["sm_75"], 40, 4 * MB, 320 * GB),
        Gpu("A100", ARCHS["sm_80"], 108, 40 * MB, 1555 * GB),
        Gpu("RTX 3090", ARCHS["sm_86"], 82, 6 * MB, 936 * GB),
        Gpu("RTX 4080", ARCHS["sm_89"], 76, 64 * MB, 717 * GB),
        Gpu("RTX 4090", ARCHS["sm_89"], 128, 72 * MB, 1008 * GB),
        Gpu("H100", ARCHS["sm_90"], 132, 50 * MB, 3350 * GB),
        Gpu("H200", ARCHS["sm_90"], 132, 60 * MB, 4800 * GB),
        Gpu("B200", ARCHS["sm_100"], 148, 126 * MB, 8000 * GB),
        Gpu("RTX 5090", ARCHS["sm_120"], 170, 96 * MB, 1792 * GB),
    )
}


def arch_named(name: str) -> Arch:
    """The architecture of that name (`sm_90`) or of the GPU of that name (`H200`)."""
    known = ARCHS | {gpu.name: gpu.arch for gpu in GPUS.values()}
    matches = {key.lower(): arch for key, arch in known.items()}
    if name.lower() in matches:
        return matches[name.lower()]
    guess = did_you_mean(name.lower(), matches) or "."
    raise Refusal(f"unknown architecture {name!r}{guess} Known: {', '.join(known)}")


@dataclass(frozen=True)
class Residency:
    """Blocks per SM, and the resource that stops at that number."""

    blocks: int
    limiter: str


def residency(arch: Arch, threads: int, registers: int, shared: int) -> Residency:
    """How many blocks one SM holds. registers: per thread. shared: static and dynamic bytes per block.

    Registers come in units of 256 per warp from one of four partitions, shared memory in units of 128 bytes.
    """
    warps = -(-threads // WARP)
    warp_registers = -(-registers * WARP // REGISTER_UNIT) * REGISTER_UNIT
    warps_by_registers = REGISTERS_PER_SM // SCHEDULERS // warp_registers * SCHEDULERS
    block_shared = -(-(shared + arch.reserved) // SHARED_UNIT) * SHARED_UNIT
    limits = {
        "shared memory": arch.shared_per_sm // block_shared if block_shared else arch.blocks_per_sm,
        "registers": warps_by_registers // warps,
        "threads": arch.threads_per_sm // (warps * WARP),
        "blocks": arch.blocks_per_sm,
    }
    if shared > arch.shared_per_block:
        limits["shared memory"] = 0
    limiter = min(limits, key=limits.get)
    return Residency(limits[limiter], limiter)


def shared_for_at_most(blocks: int, arch: Arch, shared: int) -> int:
    """Shared bytes per block, `shared` or as few more as it takes, with which one SM holds at most `blocks` blocks."""
    too_small_by_a_unit = arch.shared_per_sm // (blocks + 1) // SHARED_UNIT * SHARED_UNIT
    return max(shared, too_small_by_a_unit + SHARED_UNIT - arch.reserved)
