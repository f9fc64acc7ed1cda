"""Barriers, fences and sleep. Source: PTX ISA, "Parallel Synchronization and Communication Instructions"."""

from dataclasses import dataclass

import numpy as np

from playground.emulator.errors import UnknownInstruction
from playground.emulator.instruction import Instruction
from playground.emulator.operation import Effect, known

SCOPES = ("cta", "gl", "sys", "gpu", "cluster")


@dataclass(frozen=True)
class Barrier:
    """A block barrier. how: "sync", "arrive" or a reduction's operator; operands: id and, if any, count, predicate."""

    how: str
    operands: dict
    target: object = None


def is_block_barrier(instruction: Instruction) -> bool:
    return instruction.name in ("bar", "barrier") and "warp" not in instruction.modifiers


def barrier(instruction: Instruction) -> Barrier:
    """Read bar.sync, bar.arrive and bar.red, with or without .cta and .aligned, which bar implies."""
    found = known(instruction, "sync", "arrive", "red", "cta", "aligned", "popc", "and", "or") - {"cta", "aligned"}
    operands = list(instruction.operands)
    if found == {"sync"} and 1 <= len(operands) <= 2:
        return Barrier("sync", dict(zip(("id", "count"), operands)))
    if found == {"arrive"} and len(operands) == 2:
        return Barrier("arrive", dict(zip(("id", "count"), operands)))
    operators = found - {"red"}
    if "red" in found and len(operators) == 1 and 3 <= len(operands) <= 4:
        names = ("id", "predicate") if len(operands) == 3 else ("id", "count", "predicate")
        return Barrier(operators.pop(), dict(zip(names, operands[1:])), operands[0])
    raise UnknownInstruction(instruction)


def reduce(how: str, predicates):
    """What bar.red gives to every thread of the barrier."""
    if how == "popc":
        return np.uint32(np.count_nonzero(predicates))
    return np.bool_(predicates.all() if how == "and" else predicates.any())


def build(instruction: Instruction, index: int):
    """The operation of bar.warp.sync, a fence or a sleep, or None if it is of another family."""
    if instruction.name in ("bar", "barrier"):
        known(instruction, "warp", "sync")
        return Effect(lambda group, mask, members: group.check_members(mask, index, members), ("u32",))
    if instruction.name == "membar":
        return _fence(known(instruction, *SCOPES))
    if instruction.name == "fence":
        return _fence(known(instruction, "sc", "acq_rel", "acquire", "release", *SCOPES))
    if instruction.name == "nanosleep":
        known(instruction)
        return Effect(lambda group, mask, _: None, ("u32",))
    return None


def _fence(found: set[str]) -> Effect:
    """A fence of a scope above the block's orders what the block reads from then on: see `Arena.note`."""

    def fence(group, mask):
        group.chunk.fenced[group.slots[group.active(mask)]] = True

    return Effect((lambda group, mask: None) if "cta" in found else fence, ())
