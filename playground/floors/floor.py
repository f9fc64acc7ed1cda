"""The floor of a launch on a GPU: the time that its busiest resource needs, in microseconds, by resource.

What a multiprocessor does in a launch falls on the busiest one: of equal blocks ceil(blocks / SMs), of unequal ones, as
in causal attention, the average. The floor is the largest of the resources' times, after what an empty launch takes.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from playground.compiler.arch import WARP, Gpu
from playground.floors.rates import Rates
from playground.kernels.kernel import Kernel

MICRO = 1e6
HMMA_FLOP = 2 * 16 * 8 * 16
TURING_HMMA_FLOP = 2 * 16 * 8 * 8
"""The largest MMA of f16 that one machine instruction of mma and wmma does, from sm_80 and before."""
PACKED = 2
"""Two f32 operations that one instruction may do from sm_100 on (PTX ISA, "fma", f32x2)."""


@dataclass(frozen=True)
class Floor:
    """us: the floor. limiter: the resource that sets it. resources_us: each one's own time. launch_us: on top."""

    us: float
    limiter: str
    launch_us: float
    resources_us: dict[str, float]

    def as_record(self) -> dict:
        return asdict(self)


def floor(
    kernel: Kernel, dims: Mapping[str, int], work: Mapping[str, int], blocks_per_sm: int | None, gpu: Gpu, rates: Rates
) -> Floor:
    """The floor of a launch of `kernel` with this work; blocks_per_sm: from its ledger, if the latencies are known."""
    times = _on_the_busiest_sm(work, gpu, rates)
    share = busiest_share(kernel, dims, gpu.sms)
    seconds = {name: cycles * share / rates.clock for name, cycles in times.items()}
    seconds |= _in_memory(kernel, dims, work, gpu, rates)
    if rates.latencies_known:
        seconds["launch waves"] = _waves(kernel, dims, blocks_per_sm, gpu.sms) * _latency(kernel, dims, work, rates)
    resources = {name: time * MICRO for name, time in seconds.items() if time}
    limiter = max(resources, key=resources.get)
    launch = rates.launch * MICRO
    return Floor(launch + resources[limiter], limiter, launch, resources)


def in_turn(floors: Sequence[Floor]) -> Floor:
    """The floor of launches one after another: the sum of theirs. limiter: what takes most of them together.

    Only one launch is on top: the next is enqueued while the one before it runs.
    """
    resources = Counter()
    for one in floors:
        resources.update(one.resources_us)
    launch = max(one.launch_us for one in floors)
    work = sum(one.us - one.launch_us for one in floors)
    return Floor(launch + work, max(resources, key=resources.get), launch, dict(resources))


def _on_the_busiest_sm(work: Mapping[str, int], gpu: Gpu, rates: Rates) -> dict[str, float]:
    """Cycles of one SM that did everything alone."""
    return {
        "shared wavefronts": work["shared_wavefronts"] / rates.shared_wavefronts,
        "tensor FLOP": work["wmma_flop"] / rates.wmma + work["mma_flop"] / rates.mma,
        "issue slots": issue_slots(work, gpu.arch.cc) / rates.issue,
        "f32": f32_instructions(work) * WARP / rates.fma,
        "special functions": work["special"] * WARP / rates.special,
    }


def f32_instructions(work: Mapping[str, int]) -> int:
    """At the least: each mul may be joined with an add."""
    return work["fma"] + max(work["mul"], work["add"])


def issue_slots(work: Mapping[str, int], cc: tuple[int, int]) -> float:
    """Machine instructions that the work comes to at the least."""
    hmma = (work["wmma_flop"] + work["mma_flop"]) / (HMMA_FLOP if cc >= (8, 0) else TURING_HMMA_FLOP)
    return work["one_slot"] + hmma + f32_instructions(work) / (PACKED if cc >= (10, 0) else 1)


def busiest_share(kernel: Kernel, dims: Mapping[str, int], sms: int) -> float:
    """The part of a launch's work that its busiest SM has at the least."""
    blocks = math.prod(kernel.grid(**dims))
    return -(-blocks // sms) / blocks if _equal_blocks(kernel, dims) else 1 / sms


def _equal_blocks(kernel: Kernel, dims: Mapping[str, int]) -> bool:
    """Whether all blocks do the same: whole tiles, and no dimension of which later blocks see more."""
    contract = kernel.contract
    if any(degree > 1 for degree in contract.degrees.values()):
        return False
    return all(dims[name] % length == 0 for name, length in kernel.period.items() if name not in contract.moves_with)


def _in_memory(
    kernel: Kernel, dims: Mapping[str, int], work: Mapping[str, int], gpu: Gpu, rates: Rates
) -> dict[str, float]:
    """Seconds. Through L2 go what cp.async reads, all stores, and of loads, which L1 may serve, every byte once.

    From DRAM comes every byte that is read, once; to it goes of what is written what L2 cannot keep.
    """
    read, written = traffic(kernel, dims, work)
    seconds = {"DRAM": (read + max(0, written - gpu.l2)) / rates.dram}
    if rates.l2:
        seconds["L2"] = (max(read, work["copied"]) + work["stored"]) / rates.l2
    return seconds


def traffic(kernel: Kernel, dims: Mapping[str, int], work: Mapping[str, int]) -> tuple[int, int]:
    """Bytes that a launch must read, and those that it must write."""
    contract = kernel.contract
    written = min(work["stored"], sum(contract.bytes_of(tensor, dims) for tensor in contract.outputs))
    return contract.work(dims)["bytes"] - written, written


def _waves(kernel: Kernel, dims: Mapping[str, int], blocks_per_sm: int, sms: int) -> int:
    """How many blocks follow one another in a place of the busiest SM."""
    on_the_busiest = -(-math.prod(kernel.grid(**dims)) // sms)
    return -(-on_the_busiest // blocks_per_sm)


def _latency(kernel: Kernel, dims: Mapping[str, int], work: Mapping[str, int], rates: Rates) -> float:
    """What a block waits for its first bytes, on average at the least: DRAM's latency in those that read new ones.

    A block that reads nothing new finds all in L2; of the bytes that blocks ask for, so many are new.
    """
    read, _ = traffic(kernel, dims, work)
    new = min(1, read / max(1, work["loaded"] + work["copied"]))
    return new * rates.dram_latency + (1 - new) * rates.l2_latency
