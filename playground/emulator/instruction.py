"""A PTX instruction, its operands, and the module that it is of: what `parse` makes of the text."""

from dataclasses import dataclass, field

from playground.emulator.errors import BadLaunch
from playground.emulator.types import WIDTH


@dataclass(frozen=True)
class Register:
    name: str


@dataclass(frozen=True)
class Negated:
    """!p: a predicate operand, inverted."""

    register: Register


@dataclass(frozen=True)
class SpecialRegister:
    """%tid.x and the like, without the percent sign."""

    name: str


@dataclass(frozen=True)
class Immediate:
    text: str


@dataclass(frozen=True)
class Symbol:
    """The name of a variable, a label or a function."""

    name: str


@dataclass(frozen=True)
class Vector:
    items: tuple


@dataclass(frozen=True)
class Pair:
    """d|p: a result and its predicate."""

    items: tuple


@dataclass(frozen=True)
class Address:
    base: object
    offset: int


@dataclass(frozen=True)
class Instruction:
    """One statement. `opcode`: its dotted parts; `predicate`: a Register, a Negated or None; `line` 0: not known."""

    opcode: tuple[str, ...]
    operands: tuple
    predicate: object
    text: str
    file: str
    line: int

    @property
    def name(self) -> str:
        return self.opcode[0]

    @property
    def modifiers(self) -> tuple[str, ...]:
        return self.opcode[1:]

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(part for part in self.modifiers if part in WIDTH)

    @property
    def type(self) -> str:
        return self.types[-1]

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}" if self.line else "unknown Python line"


@dataclass
class Variable:
    """A declared piece of memory. `size` None: dynamic shared memory; `data`: initial bytes of a .global or .const."""

    name: str
    size: int | None
    alignment: int
    data: bytes = b""


@dataclass
class Function:
    """`limit`: the most threads per block that it was compiled for, if that was said."""

    name: str
    is_entry: bool
    parameters: list[tuple[str, str]]
    results: list[tuple[str, str]]
    limit: int | None
    registers: dict[str, str] = field(default_factory=dict)
    depots: list[Variable] = field(default_factory=list)
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)


@dataclass
class Module:
    functions: dict[str, Function] = field(default_factory=dict)
    shared: list[Variable] = field(default_factory=list)
    globals: list[Variable] = field(default_factory=list)

    def entry(self) -> Function:
        entries = [function for function in self.functions.values() if function.is_entry]
        if len(entries) != 1:
            raise BadLaunch(f"the PTX has {len(entries)} .entry functions: the emulator launches a module that has one")
        return entries[0]
