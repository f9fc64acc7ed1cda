"""Basic blocks: runs of instructions that lanes go through together, each ended by a branch, a return or a barrier."""

from dataclasses import dataclass

from playground.emulator import synchronise
from playground.emulator.errors import UnknownInstruction
from playground.emulator.instruction import Instruction, Symbol


@dataclass(frozen=True)
class Ending:
    """How a basic block ends: "jump", "exit", "barrier" or "fall". Lanes without the predicate go to the next block."""

    kind: str
    target: int = 0
    conditional: bool = False
    barrier: object = None


@dataclass(frozen=True)
class Block:
    """Instructions [first, last) of a kernel. An ending other than "fall" is the last of them."""

    first: int
    last: int
    ending: Ending

    @property
    def length(self) -> int:
        return self.last - self.first


def is_control(instruction: Instruction) -> bool:
    """Whether lanes may part, wait or end after it."""
    return instruction.name in ("bra", "ret", "exit") or synchronise.is_block_barrier(instruction)


def divide(instructions: list[Instruction], labels: dict[str, int]) -> list[Block]:
    """The basic blocks in order. labels: name -> index of the instruction that follows."""
    heads = {0} | set(labels.values())
    heads |= {index + 1 for index, each in enumerate(instructions) if is_control(each)}
    heads = sorted(head for head in heads if head < len(instructions))
    number = {head: place for place, head in enumerate(heads)}
    targets = {label: number.get(at, len(heads)) for label, at in labels.items()}
    edges = zip(heads, [*heads[1:], len(instructions)])
    return [Block(first, last, _ending(instructions[last - 1], targets)) for first, last in edges]


def _ending(instruction: Instruction, targets: dict[str, int]) -> Ending:
    if not is_control(instruction):
        return Ending("fall")
    conditional = instruction.predicate is not None
    if instruction.name == "bra":
        if set(instruction.modifiers) - {"uni"} or not isinstance(instruction.operands[0], Symbol):
            raise UnknownInstruction(instruction)
        return Ending("jump", targets[instruction.operands[0].name], conditional)
    if instruction.name in ("ret", "exit"):
        return Ending("exit", 0, conditional)
    return Ending("barrier", 0, conditional, synchronise.barrier(instruction))


def successors(blocks: list[Block]) -> list[tuple[int, ...]]:
    """Which blocks each block may lead to; len(blocks): the end of the kernel."""
    return [_successors(block.ending, place + 1, len(blocks)) for place, block in enumerate(blocks)]


def _successors(ending: Ending, following: int, end: int) -> tuple[int, ...]:
    leaving = {"jump": (ending.target,), "exit": (end,)}.get(ending.kind, (following,))
    return (*leaving, following) if ending.conditional else leaving
