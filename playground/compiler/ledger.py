"""The ledger: what one block of a kernel takes from a multiprocessor, and how many blocks therefore fit."""

import re
from dataclasses import asdict, dataclass

from playground.compiler.arch import Arch, residency, shared_for_at_most
from playground.errors import Refusal
from playground.kernels.kernel import Kernel


@dataclass(frozen=True)
class Ledger:
    """Registers per thread; spills, stack and shared memory in bytes; blocks per SM and what limits them."""

    arch: str
    threads: int
    registers: int
    spill_stores: int
    spill_loads: int
    stack: int
    local: int
    static_shared: int
    dynamic_shared: int
    blocks_per_sm: int
    limiter: str
    instruction_mix: dict[str, int] | None

    def as_record(self) -> dict:
        return asdict(self)


def read(kernel: Kernel, arch: Arch, ptx: str, log: str, mix: dict[str, int] | None) -> Ledger:
    """The ledger of a build, from nvJitLink's log and the kernel's own layout; a Refusal of a pin that cannot be."""
    numbers = {
        name: _reported(log, pattern)
        for name, pattern in {
            "registers": r"used (\d+) registers",
            "spill_stores": r"(\d+) bytes spill stores",
            "spill_loads": r"(\d+) bytes spill loads",
            "stack": r"(\d+) bytes stack frame",
            "local": r"(\d+) bytes lmem",
        }.items()
    }
    static_shared = _static_shared(ptx)
    shared = static_shared + kernel.layout.bytes
    if kernel.blocks_per_sm:
        shared = shared_for_at_most(kernel.blocks_per_sm, arch, shared)
    resident = residency(arch, kernel.threads, numbers["registers"], shared)
    if kernel.blocks_per_sm not in (None, resident.blocks):
        raise Refusal(f"{kernel}: on {arch.name} {resident.blocks} blocks fit on an SM, by {resident.limiter}")
    return Ledger(
        arch=arch.name,
        threads=kernel.threads,
        static_shared=static_shared,
        dynamic_shared=shared - static_shared,
        blocks_per_sm=resident.blocks,
        limiter=resident.limiter,
        instruction_mix=mix,
        **numbers,
    )


def _reported(log: str, pattern: str) -> int:
    found = re.search(pattern, log)
    if found is None:
        raise Refusal(f"nvJitLink's log does not report {pattern!r}: {' '.join(log.split())[:200]!r}")
    return int(found.group(1))


def _static_shared(ptx: str) -> int:
    """From the declarations: the linker's figure adds what the system reserves on some architectures."""
    declared = re.findall(r"^(?!\.extern).*\.shared \.align (\d+) \.b8 \w+\[(\d+)\];", ptx, re.MULTILINE)
    end = 0
    for alignment, size in declared:
        end = -(-end // int(alignment)) * int(alignment) + int(size)
    return end
