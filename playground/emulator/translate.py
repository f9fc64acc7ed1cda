"""PTX instructions -> Python source, one function per basic block, over NumPy arrays of lanes.

Each instruction becomes one line, r[d] = f12(r[a], r[b]): f12 is the operation that its family gave it, r the
registers. Where only some lanes of a group are in the block, a second form of the function merges by mask.
"""

from functools import cached_property

import numpy as np

from playground.emulator import special
from playground.emulator.blocks import Block, Ending, is_control
from playground.emulator.errors import UnknownInstruction
from playground.emulator.instruction import (
    Address,
    Immediate,
    Instruction,
    Negated,
    Pair,
    Register,
    SpecialRegister,
    Symbol,
    Vector,
)
from playground.emulator.operation import Effect, Pure
from playground.emulator.types import FLOATS, SIGNED, UNSIGNED, WIDTH, is_float, storage, value

CARRY = "%carry"


class Code:
    """A basic block as Python functions, compiled when they are first run."""

    def __init__(self, translator: "Translator", block: Block):
        self.translator = translator
        self.block = block

    @cached_property
    def full(self):
        """function(group, registers, special) for groups with all lanes here; returns the ending's predicate."""
        return self._compile(masked=False)

    @cached_property
    def masked(self):
        """function(group, registers, special, mask) for groups of which some lanes are here."""
        return self._compile(masked=True)

    def _compile(self, masked: bool):
        names = self.translator.names
        source = self.translator.source(self.block, masked)
        exec(compile(source, f"<PTX instructions {self.block.first} to {self.block.last}>", "exec"), names)
        return names["block"]


class Translator:
    """Writes the blocks of one kernel. kinds: the type of each register; operations: None where control may part."""

    def __init__(self, instructions: list[Instruction], operations: list[Pure | Effect | None], kinds: dict[str, str]):
        self.instructions = instructions
        self.operations = operations
        self.kinds = kinds
        self.places = {name: place for place, name in enumerate(kinds)}
        self.constants: dict[tuple, str] = {}
        self.names = {"np": np, "merge": merge}
        self.names |= {f"t_{dtype.name}": dtype for table in (UNSIGNED, SIGNED, FLOATS) for dtype in table.values()}
        self.names |= {f"f{index}": each.function for index, each in enumerate(operations) if each}

    def source(self, block: Block, masked: bool) -> str:
        lines = [f"def block(g, r, s{', m' if masked else ''}):"]
        for index in range(block.first, block.last):
            instruction = self.instructions[index]
            if is_control(instruction):
                lines += self._control(instruction, block.ending)
            else:
                lines += self._guarded(index, instruction, masked)
        return "\n ".join([*lines, "return None"])

    def _control(self, instruction: Instruction, ending: Ending) -> list[str]:
        lines = []
        if ending.barrier:
            for name, operand in ending.barrier.operands.items():
                kind = "pred" if name == "predicate" else "u32"
                lines.append(f"g.barrier_{name} = {self.read(operand, kind)}")
        if ending.conditional:
            lines.append(f"return {self.predicate(instruction)}")
        return lines

    def predicate(self, instruction: Instruction) -> str:
        negated = isinstance(instruction.predicate, Negated)
        register = instruction.predicate.register if negated else instruction.predicate
        return f"{'~' if negated else ''}r[{self.places[register.name]}]"

    def _guarded(self, index: int, instruction: Instruction, masked: bool) -> list[str]:
        if instruction.predicate is None:
            return self._line(index, instruction, "m" if masked else None)
        guard = f"g.spread({self.predicate(instruction)})"
        lines = [f"k = {guard} & m" if masked else f"k = {guard}", "if k.any():"]
        return lines + [f" {line}" for line in self._line(index, instruction, "k")]

    def _line(self, index: int, instruction: Instruction, mask: str | None) -> list[str]:
        does = self.operations[index]
        operands = list(instruction.operands)
        targets = _targets(operands.pop(0)) if does.writes else []
        carry = getattr(does, "carry", "")
        reads, writes = does.reads, does.writes
        if "in" in carry:
            operands.append(Register(CARRY))
            reads += ("pred",)
        if "out" in carry:
            targets.append(Register(CARRY))
        if len(operands) != len(reads) or len(targets) != len(writes):
            raise UnknownInstruction(instruction)
        arguments = [self.read(operand, kind, instruction) for operand, kind in zip(operands, reads)]
        if isinstance(does, Effect):
            arguments = ["g", mask or "None", *arguments]
        call = f"f{index}({', '.join(arguments)})"
        if not targets:
            return [call]
        if len(targets) == 1:
            return self.write(targets[0], call, writes[0], mask, instruction)
        lines = [f"t = {call}"]
        for place, (target, kind) in enumerate(zip(targets, writes)):
            lines += self.write(target, f"t[{place}]", kind, mask, instruction)
        return lines

    def read(self, operand, kind, instruction: Instruction | None = None) -> str:
        """An expression for an operand as an array of the dtype that `kind` is computed in."""
        if kind == "parameter":
            return "None"
        match operand:
            case Vector(items):
                kinds = kind if isinstance(kind, tuple) else (kind,) * len(items)
                if len(kinds) != len(items):
                    raise UnknownInstruction(instruction)
                return f"({', '.join(self.read(item, each, instruction) for item, each in zip(items, kinds))},)"
            case Negated(register):
                return f"~{self.read(register, kind, instruction)}"
            case Register(name):
                return self._register(name, kind, instruction)
            case SpecialRegister(name) if name in special.NAMES:
                return f"s[{name!r}]"
            case Immediate(text):
                return self.constant(text, kind)
            case Address():
                return self._address(operand)
            case Symbol(name):
                return f"g.launch.address({name!r}).astype(t_{value(kind).name})"
        raise UnknownInstruction(instruction)

    def _register(self, name: str, kind: str, instruction: Instruction) -> str:
        expression = f"r[{self.places[name]}]"
        held = self.kinds[name]
        if kind == "address":
            return expression
        if WIDTH[held] < WIDTH[kind] or (held == "pred") != (kind == "pred"):
            raise UnknownInstruction(instruction)
        if WIDTH[held] > WIDTH[kind]:
            if is_float(held):
                raise UnknownInstruction(instruction)
            expression = f"{expression}.astype(t_{UNSIGNED[WIDTH[kind]].name})"
            held = f"u{WIDTH[kind]}"
        return expression if storage(held) == value(kind) else f"{expression}.view(t_{value(kind).name})"

    def _address(self, operand: Address) -> str:
        base = operand.base
        if isinstance(base, Register):
            wide = WIDTH[self.kinds[base.name]]
            expression = f"r[{self.places[base.name]}]"
            return f"{expression} + {self.constant(str(operand.offset), f'u{wide}')}" if operand.offset else expression
        if isinstance(base, Immediate):
            return self.constant(str(int(base.text, 0) + operand.offset), "u64")
        return f"g.launch.address({base.name!r}) + {self.constant(str(operand.offset), 'u64')}"

    def constant(self, text: str, kind: str) -> str:
        key = (text, kind)
        if key not in self.constants:
            name = f"c{len(self.constants)}"
            self.constants[key] = name
            self.names[name] = immediate(text, "u64" if kind == "address" else kind)
        return self.constants[key]

    def write(self, target, expression: str, kind: str, mask: str | None, instruction: Instruction) -> list[str]:
        if isinstance(target, Symbol) and target.name == "_":
            return [expression]
        if not isinstance(target, Register):
            raise UnknownInstruction(instruction)
        held, place = self.kinds[target.name], self.places[target.name]
        if WIDTH[held] < WIDTH[kind] or (held == "pred") != (kind == "pred"):
            raise UnknownInstruction(instruction)
        if WIDTH[held] > WIDTH[kind]:
            if is_float(held):
                raise UnknownInstruction(instruction)
            wider = value(f"{'s' if kind[0] == 's' else 'u'}{WIDTH[held]}")
            bits = "" if kind[0] in "su" else f".view(t_{UNSIGNED[WIDTH[kind]].name})"
            expression = f"{expression}{bits}.astype(t_{wider.name})"
            kind = f"{'s' if kind[0] == 's' else 'u'}{WIDTH[held]}"
        if value(kind) != storage(held):
            expression = f"{expression}.view(t_{storage(held).name})"
        return [f"r[{place}] = merge({mask}, {expression}, r[{place}])" if mask else f"r[{place}] = {expression}"]


def merge(mask, new, old):
    return np.where(mask, new, old)


def immediate(text: str, kind: str):
    """A literal as a NumPy scalar. Source: PTX ISA, "Constants"."""
    dtype = value(kind)
    if text[:2] in ("0f", "0F"):
        bits = np.uint32(int(text[2:], 16))
        return bits.view(np.float32).astype(dtype) if dtype.kind == "f" else bits.astype(dtype)
    if text[:2] in ("0d", "0D"):
        return np.uint64(int(text[2:], 16)).view(np.float64).astype(dtype)
    if dtype.kind == "f":
        return dtype.type(float(text))
    if kind == "pred":
        return np.bool_(int(text, 0))
    bits = int(text.rstrip("U"), 0) % (1 << WIDTH[kind])
    return UNSIGNED[WIDTH[kind]].type(bits).view(dtype)


def _targets(operand) -> list:
    return list(operand.items) if isinstance(operand, (Vector, Pair)) else [operand]
