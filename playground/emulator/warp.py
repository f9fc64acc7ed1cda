"""Exchange and votes between the lanes of a warp.

Source: PTX ISA, "shfl.sync", "vote.sync", "match.sync", "redux.sync", "activemask".
"""

import numpy as np

from playground.emulator.errors import UnknownInstruction
from playground.emulator.instruction import Instruction, Pair
from playground.emulator.operation import Effect, known

LANE_BITS = np.uint32(1) << np.arange(32, dtype=np.uint32)


def build(instruction: Instruction, index: int):
    """The operation of a warp-wide exchange, or None if it is of another family."""
    builder = BUILDERS.get(instruction.name)
    return builder(instruction, index) if builder else None


def source_lane(mode: str, lane, offset, clamp):
    """(source lane, whether it is inside the segment) by the pseudo-code of "shfl.sync"; all uint32."""
    offset, lane = (offset & np.uint32(31)).astype(np.int64), lane.astype(np.int64)
    segment = ((clamp >> np.uint32(8)) & np.uint32(31)).astype(np.int64)
    limit = (clamp & np.uint32(31)).astype(np.int64)
    last = (lane & segment) | (limit & ~segment)
    first = lane & segment
    if mode == "up":
        source = lane - offset
        inside = source >= last
    else:
        source = {"down": lane + offset, "bfly": lane ^ offset, "idx": first | (offset & ~segment)}[mode]
        inside = source <= last
    return np.where(inside, source, lane), inside


def _shfl(instruction: Instruction, index: int) -> Effect:
    (mode,) = known(instruction, "sync", "up", "down", "bfly", "idx") - {"sync"}
    with_predicate = isinstance(instruction.operands[0], Pair)

    def exchange(group, mask, value, offset, clamp, members):
        group.check_members(mask, index, members)
        lane = group.special["laneid"]
        source, inside = source_lane(mode, lane, group.spread(offset), group.spread(clamp))
        taken = group.spread(value)[(group.positions & ~31) + source]
        return (taken, inside) if with_predicate else taken

    return Effect(exchange, ("b32", "u32", "u32", "u32"), ("b32", "pred") if with_predicate else ("b32",))


def _participants(group, mask, members):
    """bool (warps, 32): lanes that are here and named."""
    named = (group.spread(members).reshape(-1, 32) & LANE_BITS) != 0
    return named if mask is None else named & mask.reshape(-1, 32)


def _to_lanes(per_warp):
    return np.repeat(per_warp, 32)


def ballot(flags):
    """bool (warps, 32) -> uint32 (warps,)."""
    return (flags * LANE_BITS).sum(1, dtype=np.uint32)


def _vote(instruction: Instruction, index: int) -> Effect:
    (mode,) = known(instruction, "sync", "all", "any", "uni", "ballot") - {"sync"}

    def vote(group, mask, predicate, members):
        group.check_members(mask, index, members)
        here = _participants(group, mask, members)
        true = group.spread(predicate).reshape(-1, 32) & here
        if mode == "ballot":
            return _to_lanes(ballot(true))
        everyone, anyone = (true == here).all(1), true.any(1)
        return _to_lanes({"all": everyone, "any": anyone, "uni": everyone | ~anyone}[mode])

    return Effect(vote, ("pred", "u32"), ("u32",) if mode == "ballot" else ("pred",))


def _match(instruction: Instruction, index: int) -> Effect:
    (mode,) = known(instruction, "sync", "any", "all") - {"sync"}
    kind = instruction.type
    with_predicate = isinstance(instruction.operands[0], Pair)

    def match(group, mask, value, members):
        group.check_members(mask, index, members)
        here = _participants(group, mask, members)
        rows = group.spread(value).reshape(-1, 32)
        same = (rows[:, :, None] == rows[:, None, :]) & here[:, None, :]
        bits = (same * LANE_BITS).sum(2, dtype=np.uint32)
        if mode == "any":
            return bits.reshape(-1)
        everyone = (same | ~here[:, None, :]).all(2) & here
        agree = np.where(here.any(1), (everyone | ~here).all(1), False)
        result = np.where(agree, ballot(here), np.uint32(0))
        return (_to_lanes(result), _to_lanes(agree)) if with_predicate else _to_lanes(result)

    return Effect(match, (kind, "u32"), ("u32", "pred") if with_predicate else ("u32",))


REDUCTIONS = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def _redux(instruction: Instruction, index: int) -> Effect:
    (mode,) = known(instruction, "sync", *REDUCTIONS) - {"sync"}
    kind = instruction.type
    if kind not in ("u32", "s32", "b32"):
        raise UnknownInstruction(instruction)

    def reduce(group, mask, value, members):
        group.check_members(mask, index, members)
        here = _participants(group, mask, members)
        rows = group.spread(value).reshape(-1, 32)
        limits = np.iinfo(rows.dtype)
        neutral = {"min": limits.max, "max": limits.min, "and": ~rows.dtype.type(0)}.get(mode, 0)
        chosen = np.where(here, rows, rows.dtype.type(neutral))
        return _to_lanes(REDUCTIONS[mode].reduce(chosen, axis=1, dtype=rows.dtype))

    return Effect(reduce, (kind, "u32"), (kind,))


def _activemask(instruction: Instruction, index: int) -> Effect:
    known(instruction)

    def active(group, mask):
        here = np.ones(group.size, bool) if mask is None else mask
        return _to_lanes(ballot(here.reshape(-1, 32)))

    return Effect(active, (), ("u32",))


BUILDERS = {"shfl": _shfl, "vote": _vote, "match": _match, "redux": _redux, "activemask": _activemask}
