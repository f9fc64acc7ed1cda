"""Device functions are written out where they are called, so that a lane needs no call stack.

Parameters and results in .param space become registers named after the variable and the offset. A call to a function
that the module only declares stays a call, with those registers as its operands.
Source: PTX ISA, "Parameterized Variable Definitions" and "Control Flow Instructions: call".
"""

from dataclasses import dataclass, field, replace

from playground.emulator.errors import UnknownInstruction
from playground.emulator.instruction import (
    Address,
    Function,
    Instruction,
    Module,
    Negated,
    Pair,
    Register,
    Symbol,
    Variable,
    Vector,
)


@dataclass
class Body:
    """A kernel without calls. `labels`: name -> index of the instruction that follows."""

    registers: dict[str, str] = field(default_factory=dict)
    depots: list[Variable] = field(default_factory=list)
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)


def flatten(module: Module, entry: Function) -> Body:
    """The entry with the bodies of the functions that it calls in it. Recursion is refused as unknown."""
    return _Flattener(module).run(entry)


class _Flattener:
    def __init__(self, module: Module):
        self.module = module
        self.body = Body()
        self.copies = 0

    def run(self, entry: Function) -> Body:
        self.copy(entry, _Names(suffix="", slots={name: None for name, _ in entry.parameters}), after=None, open=())
        return self.body

    def copy(self, function: Function, names: "_Names", after: str | None, open: tuple[str, ...]):
        body = self.body
        body.registers |= {names.local(name): kind for name, kind in function.registers.items()}
        body.depots += [replace(depot, name=names.local(depot.name)) for depot in function.depots]
        positions = {}
        for label, index in function.labels.items():
            positions.setdefault(index, []).append(label)
        names.locals |= {depot.name for depot in function.depots} | set(function.labels)
        for index, instruction in enumerate(function.instructions):
            self.place(positions.get(index, ()), names)
            if instruction.name == "call":
                self.call(instruction, names, (*open, function.name))
            elif instruction.name == "ret" and after:
                body.instructions.append(replace(instruction, opcode=("bra",), operands=(Symbol(after),)))
            else:
                body.instructions.append(self.translate(instruction, names))
        self.place(positions.get(len(function.instructions), ()), names)

    def place(self, labels, names: "_Names"):
        for label in labels:
            self.body.labels[names.local(label)] = len(self.body.instructions)

    def translate(self, instruction: Instruction, names: "_Names") -> Instruction:
        operands = tuple(names.rename(operand) for operand in instruction.operands)
        renamed = replace(instruction, operands=operands, predicate=names.rename(instruction.predicate))
        if instruction.modifiers[:1] != ("param",):
            return renamed
        slots = [operand for operand in operands if isinstance(operand, Address)]
        if len(slots) != 1 or not isinstance(slots[0].base, Symbol):
            raise UnknownInstruction(instruction)
        if names.is_kernel_parameter(slots[0].base.name):
            return renamed
        register = Register(f"{slots[0].base.name}+{slots[0].offset}")
        self.body.registers.setdefault(register.name, instruction.type)
        moved = tuple(register if isinstance(operand, Address) else operand for operand in operands)
        return replace(renamed, opcode=("mov", instruction.type), operands=moved)

    def call(self, instruction: Instruction, names: "_Names", open: tuple[str, ...]):
        results, target, arguments = _call_operands(instruction)
        results = [names.rename(result).name for result in results]
        arguments = [names.rename(argument).name for argument in arguments]
        function = self.module.functions.get(target)
        if target in open:
            raise UnknownInstruction(instruction)
        if function is None:
            operands = (
                Vector(tuple(Register(f"{result}+0") for result in results)),
                Symbol(target),
                Vector(tuple(Register(f"{argument}+0") for argument in arguments)),
            )
            self.body.registers |= {f"{result}+0": "b32" for result in results}
            self.body.instructions.append(replace(instruction, operands=operands))
            return
        self.copies += 1
        after = f"after call {self.copies}"
        slots = dict(zip([name for name, _ in function.parameters], arguments))
        slots |= dict(zip([name for name, _ in function.results], results))
        self.copy(function, _Names(suffix=f"@{self.copies}", slots=slots), after, open)
        self.body.labels[after] = len(self.body.instructions)


@dataclass
class _Names:
    """How a copy of a function calls what it declared. `slots`: .param variable -> the caller's, None of the kernel."""

    suffix: str
    slots: dict[str, str | None]
    locals: set[str] = field(default_factory=set)

    def local(self, name: str) -> str:
        return name + self.suffix

    def is_kernel_parameter(self, name: str) -> bool:
        return name in self.slots and self.slots[name] is None

    def rename(self, operand):
        match operand:
            case Register(name):
                return Register(self.local(name))
            case Negated(register):
                return Negated(self.rename(register))
            case Vector(items):
                return Vector(tuple(map(self.rename, items)))
            case Pair(items):
                return Pair(tuple(map(self.rename, items)))
            case Address(base, offset):
                return Address(self.rename(base), offset)
            case Symbol(name) if self.slots.get(name):
                return Symbol(self.slots[name])
            case Symbol(name) if name in self.locals or "#" in name:
                return Symbol(self.local(name))
        return operand


def _call_operands(instruction: Instruction):
    """call (results), function, (arguments); results and arguments may be missing."""
    operands = list(instruction.operands)
    results = operands.pop(0).items if isinstance(operands[0], Vector) else ()
    target = operands.pop(0)
    if not isinstance(target, Symbol) or len(operands) > 1:
        raise UnknownInstruction(instruction)
    return results, target.name, operands[0].items if operands else ()
