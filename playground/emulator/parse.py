"""PTX text -> instructions with typed operands, each knowing the Python line that it came from."""

import math
import re

from playground.emulator.instruction import (
    Address,
    Function,
    Immediate,
    Instruction,
    Module,
    Negated,
    Pair,
    Register,
    SpecialRegister,
    Symbol,
    Variable,
    Vector,
)
from playground.emulator.types import WIDTH


def parse(ptx: str) -> Module:
    """Read a module as NVVM or a person writes it. Source: PTX ISA, "Syntax" and "Directives"."""
    files = {int(number): name for number, name in re.findall(r'\.file\s+(\d+)\s+"([^"]+)"', ptx)}
    reader = _Reader(files)
    for statement in _statements(_clean(ptx)):
        reader.read(statement)
    return reader.module


def _clean(ptx: str) -> str:
    ptx = re.sub(r"/\*.*?\*/", " ", ptx, flags=re.S)
    ptx = re.sub(r"//[^\n]*", "", ptx)
    ptx = re.sub(r"\.section\s+\S+\s*\{[^}]*\}", "", ptx)
    return re.sub(r"^\s*(\.(?:loc|file|version|target|address_size)\b[^\n;]*)$", r"\1;", ptx, flags=re.M)


_LABEL = re.compile(r"\s*([\w$%]+):(?!:)")
_HEADER = re.compile(r"\.(entry|func)\b")


def _statements(text: str):
    """Yield statements without their semicolon, labels as "name:", and "{" and "}" where a scope opens or closes."""
    start = depth = 0
    for match in re.finditer(r"[;{}]", text):
        mark = match.group()
        while depth == 0 and (label := _LABEL.match(text, start, match.start())):
            yield label.group(1) + ":"
            start = label.end()
        pending = text[start : match.start()].strip()
        opens_scope = mark == "{" and depth == 0 and (not pending or _HEADER.search(pending))
        if mark == "{" and not opens_scope:
            depth += 1
        elif mark == "}" and depth:
            depth -= 1
        elif depth == 0:
            if pending:
                yield " ".join(pending.split())
            if mark != ";":
                yield mark
            start = match.end()


def split(text: str) -> list[str]:
    """Split operands at the commas that are outside of brackets."""
    parts, depth, start = [], 0, 0
    for position, mark in enumerate(text):
        depth += (mark in "{[(") - (mark in "}])")
        if mark == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


_NUMBER = re.compile(r"[-+]?(0[fFdD][0-9a-fA-F]+|0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|\d+U?|\d*\.\d+(e[-+]?\d+)?)")


class _Reader:
    def __init__(self, files: dict[int, str]):
        self.module = Module()
        self.files = files
        self.declared: Function | None = None
        self.function: Function | None = None
        self.scopes: list[dict[str, str]] = []
        self.scope_count = 0
        self.file, self.line = "", 0

    def read(self, statement: str):
        if statement == "{":
            if not self.scopes:
                self.define(self.declared)
            self.scope_count += 1
            self.scopes.append({})
        elif statement == "}":
            self.scopes.pop()
            if not self.scopes:
                self.function = None
        elif statement.endswith(":"):
            self.function.labels[statement[:-1]] = len(self.function.instructions)
        elif statement[0] == ".":
            self.directive(statement)
        else:
            self.function.instructions.append(self.instruction(statement))

    def directive(self, statement: str):
        word = re.match(r"\.(\w+)", statement).group(1)
        if word == "loc":
            self.location(statement)
        elif self.function is None and (header := _HEADER.search(statement)):
            self.header(statement, header.group(1))
        elif word == "reg":
            self.declare_registers(statement)
        elif self.function is not None and word == "param":
            for name in re.findall(r"([\w$%]+)(?:\[\d+\])?\s*$", statement):
                self.scopes[-1][name] = f"{name}#{self.scope_count}"
        elif variable := re.search(r"\.(shared|global|const|local)\b", statement):
            self.variable(statement, variable.group(1))

    def location(self, statement: str):
        """Lines inside Numba's own sources are shown as the line of the kernel that they were inlined at."""
        file, line = map(int, statement.split()[1:3])
        inlined = re.search(r"inlined_at\s+(\d+)\s+(\d+)", statement)
        if inlined and re.search(r"/numba(_cuda)?/", self.files.get(file, "")):
            file, line = map(int, inlined.groups())
        if line:
            self.file, self.line = self.files.get(file, f"file {file}"), line

    def header(self, statement: str, kind: str):
        name, results, parameters = _signature(statement, kind)
        self.file, self.line = "", 0
        limit = re.search(r"\.(?:maxntid|reqntid)\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?", statement)
        threads = math.prod(int(n or 1) for n in limit.groups()) if limit else None
        self.declared = Function(name, kind == "entry", parameters, results, threads)

    def define(self, function: Function):
        self.module.functions[function.name] = function
        self.function = function

    def declare_registers(self, statement: str):
        kind, names = re.match(r"\.reg\s+\.(\w+)\s+(.*)", statement).groups()
        inner = len(self.scopes) > 1
        for name in split(names):
            run = re.match(r"([\w$%]+)<(\d+)>", name)
            for each in [f"{run[1]}{i}" for i in range(int(run[2]))] if run else [name]:
                unique = f"{each}#{self.scope_count}" if inner else each
                self.scopes[-1][each] = unique
                self.function.registers[unique] = kind

    def variable(self, statement: str, space: str):
        declared, _, initial = statement.partition("=")
        match = re.search(r"\.([busf]\d+)\s+([\w$%]+)\s*((?:\[\d*\])*)\s*$", declared)
        kind, name, dimensions = match.groups()
        alignment = re.search(r"\.align\s+(\d+)", declared)
        element = WIDTH[kind] // 8
        size = element
        for dimension in re.findall(r"\[(\d*)\]", dimensions):
            size = size * int(dimension) if dimension and size is not None else None
        variable = Variable(name, size, int(alignment[1]) if alignment else element)
        if space in ("global", "const"):
            numbers = re.findall(r"[-\w.]+", initial)
            variable.data = b"".join(_number(text, kind) for text in numbers).ljust(size or 0, b"\0")
            self.module.globals.append(variable)
        elif space == "local":
            self.function.depots.append(variable)
        else:
            self.module.shared.append(variable)

    def instruction(self, statement: str) -> Instruction:
        text = statement
        predicate = None
        if statement[0] == "@":
            guard, statement = statement[1:].split(None, 1)
            predicate = self.operand(guard)
        opcode, _, operands = statement.partition(" ")
        return Instruction(
            tuple(opcode.split(".")),
            tuple(self.operand(each) for each in split(operands)),
            predicate,
            text,
            self.file,
            self.line,
        )

    def operand(self, text: str):
        if text[0] in "{(":
            return Vector(tuple(self.operand(each) for each in split(text[1:-1])))
        if text[0] == "[":
            base, sign, offset = re.fullmatch(r"\[\s*([\w$%.]+)\s*(?:([+-])\s*(-?\w+))?\s*\]", text).groups()
            distance = int(offset, 0) if offset else 0
            return Address(self.operand(base), -distance if sign == "-" else distance)
        if text[0] == "!":
            return Negated(self.operand(text[1:].strip()))
        if "|" in text:
            return Pair(tuple(self.operand(each.strip()) for each in text.split("|")))
        if _NUMBER.fullmatch(text):
            return Immediate(text)
        for scope in reversed(self.scopes):
            if text in scope:
                unique = scope[text]
                return Register(unique) if unique in self.function.registers else Symbol(unique)
        return SpecialRegister(text[1:]) if text[0] == "%" else Symbol(text)


def _signature(statement: str, kind: str):
    """(name, results, parameters); each of the latter as (name, type), arrays of bytes by their size: "b8[16]"."""
    after = statement.split(f".{kind}", 1)[1].strip()
    results = []
    if after.startswith("("):
        inside, after = after[1:].split(")", 1)
        results = _parameters(inside)
    name, _, rest = after.strip().partition("(")
    return name.split()[0], results, _parameters(rest.split(")", 1)[0])


def _parameters(text: str) -> list[tuple[str, str]]:
    found = re.findall(r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)\s+(?:\.ptr[^,]*?)?([\w$%]+)(\[\d+\])?\s*(?:,|$)", text)
    return [(name, kind + extent) for kind, name, extent in found]


def _number(text: str, kind: str) -> bytes:
    width = WIDTH[kind] // 8
    if text[:2] in ("0f", "0F", "0d", "0D"):
        return int(text[2:], 16).to_bytes(width, "little")
    return (int(text, 0) % (1 << 8 * width)).to_bytes(width, "little")
