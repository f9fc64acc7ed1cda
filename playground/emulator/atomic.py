"""atom and red. Lanes that meet at one address take turns in the order of their numbers.

Source: PTX ISA, "atom", "red".
"""

from collections.abc import Callable

import numpy as np

from playground.emulator.errors import UnknownInstruction
from playground.emulator.instruction import Instruction, Symbol
from playground.emulator.memory import ORDER, split_generic
from playground.emulator.operation import Effect, known
from playground.emulator.shared_memory import ATOMIC
from playground.emulator.spaces import SPACES
from playground.emulator.types import WIDTH, is_float, size, storage, value

FOLDS = {
    "add": np.add,
    "min": np.fmin,
    "max": np.fmax,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
KINDS = {
    "add": ("u32", "s32", "u64", "s64", "f32", "f64", "f16"),
    "min": ("u32", "s32", "u64", "s64"),
    "max": ("u32", "s32", "u64", "s64"),
    "and": ("b32", "b64"),
    "or": ("b32", "b64"),
    "xor": ("b32", "b64"),
    "exch": ("b32", "b64"),
    "cas": ("b16", "b32", "b64"),
    "inc": ("u32",),
    "dec": ("u32",),
}


def build(instruction: Instruction, index: int):
    """The operation of an atomic, or None if it is of another family."""
    if instruction.name not in ("atom", "red"):
        return None
    found = known(instruction, *SPACES, *ORDER, "acq_rel", "noftz", *KINDS)
    names, spaces = found & set(KINDS), found & set(SPACES)
    kind = instruction.type
    if len(names) != 1 or len(spaces) > 1 or kind not in KINDS[min(names)]:
        raise UnknownInstruction(instruction)
    space = SPACES[spaces.pop()] if spaces else "generic"
    turns = _turns(names.pop())
    reads = ("address",) + (kind,) * (len(instruction.operands) - (1 if instruction.name == "red" else 2))
    returns = instruction.name == "atom" and instruction.operands[0] != Symbol("_")
    if instruction.name == "atom":
        return Effect(_atomic(turns, kind, space, index, returns), reads, (storage_kind(kind),))
    return Effect(_atomic(turns, kind, space, index, False), reads)


def storage_kind(kind: str) -> str:
    return kind if is_float(kind) and kind != "f16" else f"u{WIDTH[kind]}"


def _atomic(turns: Callable, kind: str, space: str, index: int, returns: bool):
    def run(group, mask, address, *operands):
        lanes = group.active(mask)
        parts = [(lanes, group.gather(lanes, address), space)]
        if space == "generic":
            parts = split_generic(group, *parts[0][:2])
        result = np.zeros(group.size, value(kind))
        for lanes, own, where in parts:
            lanes, offsets, words = _reach(group, index, where, lanes, own, size(kind))
            cells = words[size(kind)].view(value(kind))
            result[lanes] = turns(cells, offsets // size(kind), *(group.gather(lanes, each) for each in operands))
        return result.view(storage(kind)) if returns else None

    return run


def _reach(group, index: int, space: str, lanes, address, size: int):
    if space == "shared":
        memory = group.chunk.shared
        lanes, offsets = memory.locate(group, index, lanes, address, size)
        memory.note(group, ATOMIC, index, lanes, offsets, size)
        group.launch.counts.shared(group, index, lanes, offsets, size)
    elif space == "local":
        memory = group.chunk.local
        lanes, offsets = memory.locate(group, index, lanes, address, size)
    else:
        memory = group.launch.arena
        lanes, offsets = memory.locate(group, index, lanes, address, size)
        memory.note(group, "atomic", index, lanes, offsets, size)
        group.launch.counts.global_(group, index, lanes, offsets, size)
    return lanes, offsets, memory.words


def _turns(name: str) -> Callable:
    """function(cells, places, *operands) -> what each lane found there, changing `cells`."""
    if name in FOLDS:
        return lambda cells, places, operand: _each_place(cells, places, _fold(FOLDS[name]), operand)
    return lambda cells, places, *operands: _each_place(cells, places, SEQUENCES[name], *operands)


def _each_place(cells, places, sequence: Callable, *operands):
    """sequence(current, *operands of the lanes at one place) -> (what each found, what is left).

    sequence.one(currents, *operands) -> what is left at each of many places, where one lane each comes.
    """
    order = np.argsort(places, kind="stable")
    places = places[order]
    edges = np.flatnonzero(np.diff(places)) + 1
    starts, stops = [0, *edges.tolist()], [*edges.tolist(), len(places)]
    found = np.empty(len(places), cells.dtype)
    operands = [np.asarray(operand)[order] for operand in operands]
    if len(starts) == len(places):
        # Nobody meets: all places at once, as sequences of one.
        found[:] = cells[places]
        cells[places] = sequence.one(found, *operands)
    else:
        for start, stop in zip(starts, stops) if len(places) else ():
            own = [operand[start:stop] for operand in operands]
            found[start:stop], cells[places[start]] = sequence(cells[places[start]], *own)
    result = np.empty_like(found)
    result[order] = found
    return result


def _fold(function) -> Callable:
    def sequence(current, operand):
        values = function.accumulate(np.concatenate(([current], operand)), dtype=operand.dtype)
        return values[:-1], values[-1]

    sequence.one = function
    return sequence


def _exchange(current, operand):
    return np.concatenate(([current], operand[:-1])), operand[-1]


def _compare_and_swap(current, expected, new):
    """All lanes find the current value until one expects it; what that lane leaves is what the next ones find."""
    found = np.empty_like(new)
    start = 0
    while len(hits := np.flatnonzero(expected[start:] == current)):
        stop = start + int(hits[0]) + 1
        found[start:stop] = current
        current, start = new[stop - 1], stop
    found[start:] = current
    return found, current


def _stepwise(step: Callable) -> Callable:
    def sequence(current, limit):
        found = np.empty_like(limit)
        for place, own in enumerate(limit):
            found[place], current = current, step(current, own)
        return found, current

    sequence.one = step
    return sequence


def _increment(old, limit):
    return np.where(old >= limit, np.uint32(0), old + np.uint32(1))


def _decrement(old, limit):
    return np.where((old == 0) | (old > limit), limit, old - np.uint32(1))


_exchange.one = lambda old, operand: operand
_compare_and_swap.one = lambda old, expected, new: np.where(old == expected, new, old)
SEQUENCES = {
    "exch": _exchange,
    "cas": _compare_and_swap,
    "inc": _stepwise(_increment),
    "dec": _stepwise(_decrement),
}
