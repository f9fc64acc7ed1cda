"""A kernel made ready to run: its variables laid out, its basic blocks divided and translated."""

from playground.emulator import (
    async_copy,
    atomic,
    convert,
    external,
    floating,
    integer,
    memory,
    select,
    synchronise,
    tensor,
    warp,
)
from playground.emulator.blocks import divide, is_control, successors
from playground.emulator.calls import flatten
from playground.emulator.errors import UnknownInstruction
from playground.emulator.instruction import Instruction, Module, Variable
from playground.emulator.operation import Effect, Pure
from playground.emulator.reconverge import post_dominators
from playground.emulator.translate import CARRY, Code, Translator
from playground.emulator.types import storage

COMPUTING = (convert, select, integer, floating)
EFFECTS = (memory, async_copy, tensor, warp, atomic, synchronise, external)


class Program:
    """A translated kernel: everything that does not depend on a launch."""

    def __init__(self, module: Module):
        self.module = module
        self.entry = module.entry()
        body = flatten(module, self.entry)
        self.instructions = body.instructions
        self.local_bytes, local = _lay_out(body.depots)
        self.dynamic_start, shared = _lay_out_shared(module.shared)
        self.symbols = local | shared
        self.kinds = body.registers | {CARRY: "pred"}
        operations = [
            None if is_control(each) else operation(each, index) for index, each in enumerate(self.instructions)
        ]
        translator = Translator(self.instructions, operations, self.kinds)
        self.places = translator.places
        self.blocks = divide(self.instructions, body.labels)
        self.code = [Code(translator, block) for block in self.blocks]
        self.post_dominators = post_dominators(successors(self.blocks))

    def initial_registers(self) -> list:
        return [storage(kind).type(0) for kind in self.kinds.values()]


def operation(instruction: Instruction, index: int) -> Pure | Effect:
    """What the instruction does; UnknownInstruction if no family knows it."""
    for family in COMPUTING:
        if found := family.build(instruction):
            return found
    for family in EFFECTS:
        if found := family.build(instruction, index):
            return found
    raise UnknownInstruction(instruction)


def _lay_out(variables: list[Variable]) -> tuple[int, dict[str, int]]:
    """(bytes, name -> offset) of variables one after the other, each aligned."""
    end, places = 0, {}
    for variable in variables:
        start = -(-end // variable.alignment) * variable.alignment
        places[variable.name] = start
        end = start + variable.size
    return end, places


def _lay_out_shared(variables: list[Variable]) -> tuple[int, dict[str, int]]:
    """(where dynamic shared memory begins, name -> offset): after the static, on a multiple of 16 if it is declared."""
    end, places = _lay_out([each for each in variables if each.size is not None])
    dynamic = [each.name for each in variables if each.size is None]
    if not dynamic:
        return end, places
    start = -(-end // 16) * 16
    return start, places | dict.fromkeys(dynamic, start)
