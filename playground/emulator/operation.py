"""What an instruction does, as the translator sees it: a function, and the types of what it reads and writes."""

from collections.abc import Callable
from dataclasses import dataclass

from playground.emulator.errors import UnknownInstruction
from playground.emulator.instruction import Instruction


@dataclass(frozen=True)
class Pure:
    """Each lane's results follow from its own operands: function(*operands) -> one array, or a tuple of them.

    reads: one type per operand, a tuple of types for a vector. writes: one type per result.
    carry: how the condition-code register takes part: "in", "out", "in out" or not. It is the last operand and result.
    """

    function: Callable
    reads: tuple
    writes: tuple[str, ...]
    carry: str = ""


@dataclass(frozen=True)
class Effect:
    """Touches memory or other lanes: function(group, mask, *operands) -> as in Pure, or None if it writes nothing.

    mask: bool (lanes,) of those that take part, or None if all do. Operands are arrays (lanes,) or NumPy scalars.
    """

    function: Callable
    reads: tuple
    writes: tuple[str, ...] = ()


def known(instruction: Instruction, *modifiers: str) -> set[str]:
    """The instruction's modifiers that are not types; any that is not listed makes the instruction unknown."""
    found = set(instruction.modifiers) - set(instruction.types)
    if found - set(modifiers):
        raise UnknownInstruction(instruction)
    return found
