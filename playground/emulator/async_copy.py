"""cp.async: copies from global to shared memory that land as late as the memory model allows, at their thread's wait.

Until then the destination holds what it held, and the source may still change. Source: PTX ISA, "Data Movement and
Conversion Instructions: Asynchronous copy", "cp.async", "cp.async.commit_group", "cp.async.wait_group".
"""

from dataclasses import dataclass, replace

import numpy as np

from playground.emulator import hazards
from playground.emulator.errors import UnknownInstruction
from playground.emulator.instruction import Immediate, Instruction
from playground.emulator.operation import Effect, known
from playground.emulator.shared_memory import ISSUE, LAND

SIZES = {"ca": (4, 8, 16), "cg": (16,)}
PREFETCH = ("L2::64B", "L2::128B", "L2::256B")


@dataclass(frozen=True)
class Copy:
    """One executed cp.async.

    All arrays are (n,): the chunk's lanes that issued it, byte offsets in the two memories, how many bytes to read (the
    rest is zero), and the number of the commit group.
    """

    instruction: int
    lanes: np.ndarray
    shared: np.ndarray
    source: np.ndarray
    size: int
    bytes: np.ndarray
    number: np.ndarray

    def take(self, chosen) -> "Copy":
        columns = ("lanes", "shared", "source", "bytes", "number")
        return replace(self, **{name: getattr(self, name)[chosen] for name in columns})

    def of(self, chunk_lanes) -> "Copy | None":
        """The part that these lanes issued, None if they issued nothing of it."""
        chosen = np.isin(self.lanes, chunk_lanes)
        return self.take(chosen) if chosen.any() else None


def build(instruction: Instruction, index: int):
    """The operation of cp.async and its commits and waits, or None if it is of another family."""
    if instruction.name != "cp":
        return None
    match instruction.modifiers:
        case ("async", "commit_group"):
            return Effect(_commit, ())
        case ("async", "wait_group"):
            return Effect(_wait_group(index), ("u32",))
        case ("async", "wait_all"):
            return Effect(lambda group, mask: _wait(group, mask, None, index), ())
        case ("async", cache, "shared" | "shared::cta", "global", *rest) if cache in SIZES:
            if len(rest) <= 1 and set(rest) <= set(PREFETCH):
                return _copy(instruction, index, cache)
    raise UnknownInstruction(instruction)


def _copy(instruction: Instruction, index: int, cache: str) -> Effect:
    known(instruction, *instruction.modifiers)
    size = instruction.operands[2]
    if not isinstance(size, Immediate) or int(size.text, 0) not in SIZES[cache] or len(instruction.operands) > 4:
        raise UnknownInstruction(instruction)
    size = int(size.text, 0)

    def issue(group, mask, shared, source, _, bytes=None):
        lanes = group.active(mask)
        bytes = np.full(group.size, size) if bytes is None else np.minimum(group.spread(bytes).astype(np.int64), size)
        memory = group.chunk.shared
        lanes, offsets = memory.locate(group, index, lanes, group.gather(lanes, shared), size)
        memory.note(group, ISSUE, index, lanes, offsets, size)
        group.launch.counts.shared(group, index, lanes, offsets, size)
        lanes = group.positions[lanes]
        found, bytes = _find_sources(group, index, lanes, group.gather(lanes, source), offsets, size, bytes[lanes])
        number = group.commits[lanes] + 1
        group.copies.append(Copy(index, group.chunk_lanes[lanes], offsets, found, size, bytes, number))

    reads = ("address", "address", "u32", "u32")
    return Effect(issue, reads[: len(instruction.operands)])


def _find_sources(group, index: int, lanes, address, destinations, size: int, bytes):
    """(offsets, bytes to read), both (n,). Where nothing is read the address does not matter; what is out of bounds is
    reported and read as zeros."""
    arena = group.launch.arena
    offsets = np.zeros(len(lanes), np.int64)
    readable = np.zeros(len(lanes), np.int64)
    for extent in np.unique(bytes):
        if extent == 0:
            continue
        chosen = np.flatnonzero(bytes == extent)
        everything = len(chosen) == group.size
        own = slice(None) if everything else lanes[chosen]
        found, places = arena.locate(group, index, own, address[chosen], size, int(extent))
        arena.note(group, "read", index, found, places, int(extent))
        kept = chosen if len(places) == len(chosen) else chosen[np.isin(lanes[chosen], group.positions[found])]
        group.launch.counts.copied(group, index, found, places, destinations[kept], int(extent))
        offsets[kept], readable[kept] = places, extent
    return offsets, readable


def _commit(group, mask):
    group.commits = group.commits + (1 if mask is None else mask)


def _wait_group(index: int):
    return lambda group, mask, pending: _wait(group, mask, group.spread(pending).astype(np.int64), index)


def _wait(group, mask, pending, index: int):
    """Let each lane's groups land except its `pending` newest; None: all that it issued."""
    kept = []
    for copy in group.copies:
        lanes = group.positions_of(copy.lanes)
        done = np.ones(len(lanes), bool) if pending is None else copy.number <= (group.commits - pending)[lanes]
        if mask is not None:
            done &= mask[lanes]
        if done.all():
            _land(group, copy, lanes, index)
        elif done.any():
            _land(group, copy.take(done), lanes[done], index)
            kept.append(copy.take(~done))
        else:
            kept.append(copy)
    group.copies = kept


def _land(group, copy: Copy, lanes, index: int):
    words = group.launch.arena.words[copy.size][copy.source // copy.size]
    if (copy.bytes < copy.size).any():
        parts = words.view(np.uint8).reshape(-1, copy.size)
        words = np.where(np.arange(copy.size) < copy.bytes[:, None], parts, np.uint8(0)).view(words.dtype).ravel()
    shared = group.chunk.shared
    shared.words[copy.size][copy.shared // copy.size] = words
    shared.note(group, LAND, copy.instruction, lanes, copy.shared, copy.size, at=index)


def report_lost(group):
    """At the end of a kernel: copies that nobody waited for."""
    for copy in group.copies:
        group.report(hazards.ASYNC_LOST, copy.instruction, group.positions_of(copy.lanes))
