"""Barriers of a block: who waits where, and when they go on. Source: PTX ISA, "bar, barrier".

A barrier without a count is for the whole block: lanes that wait elsewhere or have ended are a hazard. One with a count
lets its lanes go when so many threads have come. If nobody can go, all do, and that is a hazard too.
"""

import numpy as np

from playground.emulator import hazards, synchronise
from playground.emulator.group import ENDED, WAITING


class Waiting:
    """Per lane of a chunk: the barrier instruction that it waits at, NOWHERE if none, and what it said there."""

    NOWHERE = -1

    def __init__(self, lanes: int):
        self.at = np.full(lanes, self.NOWHERE)
        self.id = np.zeros(lanes, np.int64)
        self.count = np.zeros(lanes, np.int64)
        self.predicate = np.zeros(lanes, bool)


def arrive(group, block, lanes):
    """Lanes of a group, bool (lanes,) or all, have come to the barrier that ends a block."""
    chunk, barrier = group.chunk, block.ending.barrier
    lanes = group.chunk_lanes[lanes] if np.ndim(lanes) or isinstance(lanes, slice) else group.chunk_lanes[:0]
    values = {name: _of(group, getattr(group, f"barrier_{name}"), lanes) for name in barrier.operands}
    count = values.get("count", 0)
    if barrier.how == "arrive":
        _announce(chunk, lanes, values["id"])
        return
    waiting = chunk.waiting
    waiting.at[lanes] = block.last - 1
    waiting.id[lanes] = values["id"]
    waiting.count[lanes] = count
    waiting.predicate[lanes] = values.get("predicate", False)


def _of(group, value, lanes):
    return value[group.positions_of(lanes)] if np.ndim(value) else value


def _announce(chunk, lanes, ids):
    ids = np.broadcast_to(ids, lanes.shape)
    slots = lanes // chunk.lanes_per_block
    for slot in np.unique(slots):
        for barrier in np.unique(ids[slots == slot]):
            own = lanes[(slots == slot) & (ids == barrier)]
            key = int(slot), int(barrier)
            chunk.arrivals[key] = chunk.arrivals.get(key, 0) + len(own)
            chunk.order.arrive(*key, chunk.warps_in_block(own))


def release(chunk, groups):
    """Let go who can; the groups that go on."""
    if not groups:
        return []
    if _all_at_one(chunk, groups):
        _count(chunk, int(chunk.waiting.at[groups[0].chunk_lanes[0]]), len(chunk.blocks))
        _go(groups, None)
        chunk.settle()
        return groups
    free = np.zeros(len(chunk.waiting.at), bool)
    for slot in range(len(chunk.blocks)):
        _release_block(chunk, slot, free)
    settles = not (chunk.waiting.at[~free] != Waiting.NOWHERE).any() and not chunk.partial
    _go(groups, free)
    if settles:
        chunk.settle()
    return groups


def _all_at_one(chunk, groups) -> bool:
    """The common case: every lane of every block waits at the same barrier, which is for the whole block."""
    waiting = chunk.waiting
    return (
        sum(group.size for group in groups) == len(waiting.at)
        and all(isinstance(group.pc, int) for group in groups)
        and len({group.pc for group in groups}) == 1
        and not waiting.count.any()
        and (waiting.id == waiting.id[0]).all()
        and not chunk.arrivals
        and _how(chunk, int(waiting.at[0])) == "sync"
    )


def _how(chunk, instruction: int) -> str:
    return synchronise.barrier(chunk.launch.instructions[instruction]).how


def _release_block(chunk, slot: int, free):
    waiting = chunk.waiting
    lanes = slice(slot * chunk.lanes_per_block, (slot + 1) * chunk.lanes_per_block)
    at = waiting.at[lanes]
    here = np.flatnonzero(at != Waiting.NOWHERE)
    if not len(here):
        return
    base = lanes.start
    went = False
    for barrier in np.unique(waiting.id[base + here]):
        members = here[waiting.id[base + here] == barrier]
        counts = waiting.count[base + members]
        whole = not counts.any()
        arrived = chunk.arrivals.get((slot, int(barrier)), 0)
        complete = len(members) == len(here) if whole else len(members) + arrived >= counts.max()
        if complete:
            went = True
            _complete(chunk, slot, int(barrier), base + members, whole)
            free[base + members] = True
    if not went:
        _report(chunk, base + here, "its threads wait at different barriers, and none can be completed")
        _complete(chunk, slot, -1, base + here, whole=True, checked=False)
        free[base + here] = True


def _complete(chunk, slot: int, barrier: int, lanes, whole: bool, checked: bool = True):
    """One barrier of one block is complete: check who came, reduce what they said, and order what they did."""
    waiting = chunk.waiting
    places = np.unique(waiting.at[lanes])
    if checked:
        _check(chunk, slot, lanes, places, whole)
    for instruction in places:
        how = _how(chunk, int(instruction))
        if how != "sync":
            chunk.reduced[lanes] = synchronise.reduce(how, waiting.predicate[lanes])
    _count(chunk, int(places[0]), 1)
    chunk.arrivals.pop((slot, barrier), None)
    warps = chunk.warps_in_block(lanes)
    every = whole or len(warps) == chunk.order.warps
    chunk.partial |= not every
    chunk.order.release(slot, barrier, np.arange(chunk.order.warps) if whole else warps)


def _check(chunk, slot: int, lanes, places, whole: bool):
    waiting = chunk.waiting
    if len(places) > 1 and whole:
        fewest = min(places, key=lambda place: (np.count_nonzero(waiting.at[lanes] == place), place))
        rest = chunk.launch.instructions[int(next(place for place in places if place != fewest))]
        own = lanes[waiting.at[lanes] == fewest]
        _report(chunk, own, f"other threads of the block wait at another barrier, {rest.where}")
    expected = ~chunk.missing[slot * chunk.lanes_per_block :][: chunk.lanes_per_block]
    if whole:
        ended = int(np.count_nonzero(expected)) - len(lanes)
        if ended:
            _report(chunk, lanes, f"{ended} threads of the block had ended before it")
        return
    here = np.zeros(chunk.lanes_per_block, bool)
    here[lanes - slot * chunk.lanes_per_block] = True
    rows = here.reshape(-1, 32)
    partial = rows.any(1) & (expected.reshape(-1, 32) & ~rows).any(1)
    if partial.any():
        _report(chunk, lanes[np.repeat(partial, 32)[lanes % chunk.lanes_per_block]], "only a part of a warp came to it")


def _report(chunk, lanes, detail: str):
    for instruction in np.unique(chunk.waiting.at[lanes]):
        own = lanes[chunk.waiting.at[lanes] == instruction]
        chunk.report(hazards.BARRIER, int(instruction), own, detail)


def _count(chunk, instruction: int, blocks: int):
    chunk.launch.counts.barriers_at[instruction] += blocks


def _go(groups, free):
    """Lanes that are free take the instruction after their barrier, with what it reduced to."""
    for group in groups:
        chunk = group.chunk
        own = np.ones(group.size, bool) if free is None else free[group.chunk_lanes]
        if free is not None and own.any():
            _write_reductions(group, own)
        chunk.waiting.at[group.chunk_lanes[own]] = Waiting.NOWHERE
        if isinstance(group.pc, int):
            group.pc = _resumed(group.pc) if own.all() else np.where(own, _resumed(group.pc), group.pc)
        else:
            group.pc = np.where(own & (group.pc >= WAITING) & (group.pc != ENDED), _resumed(group.pc), group.pc)


def _resumed(pc):
    """Where lanes go on that waited: after a barrier that is the last instruction of all, they have ENDED."""
    return pc - WAITING


def _write_reductions(group, own):
    chunk, program = group.chunk, group.launch.program
    at = chunk.waiting.at[group.chunk_lanes]
    for instruction in np.unique(at[own]):
        barrier = synchronise.barrier(group.launch.instructions[int(instruction)])
        if barrier.target is None:
            continue
        place = program.places[barrier.target.name]
        old = group.registers[place]
        new = chunk.reduced[group.chunk_lanes].astype(old.dtype)
        group.registers[place] = np.where(own & (at == instruction), new, old)
