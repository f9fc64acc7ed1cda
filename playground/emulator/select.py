"""Moving, comparing and choosing. Source: PTX ISA, "Comparison and Selection Instructions", "mov", "cvta"."""

import operator

import numpy as np

from playground.emulator import half
from playground.emulator.errors import UnknownInstruction
from playground.emulator.floating import HALVES, PAIRS, flush
from playground.emulator.instruction import Instruction, Vector
from playground.emulator.operation import Pure, known
from playground.emulator.spaces import SPACES, WINDOW_BYTES, WINDOWS
from playground.emulator.types import UNSIGNED, WIDTH, is_float

COMPARISONS = {"eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt}
COMPARISONS |= {"ge": operator.ge, "lo": operator.lt, "ls": operator.le, "hi": operator.gt, "hs": operator.ge}
BOOLEANS = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}


def build(instruction: Instruction):
    """The operation of a move, comparison or selection, or None if it is of another family."""
    builder = BUILDERS.get(instruction.name)
    return builder(instruction) if builder else None


def _mov(instruction: Instruction) -> Pure:
    known(instruction)
    target, source = instruction.operands
    kind = instruction.type
    if isinstance(source, Vector):
        return _pack(kind, len(source.items))
    if isinstance(target, Vector):
        return _unpack(kind, len(target.items))
    return Pure(lambda a: a, (kind,), (kind,))


def _pack(kind: str, count: int) -> Pure:
    width = WIDTH[kind] // count
    whole = UNSIGNED[WIDTH[kind]].type

    def packed(parts):
        result = whole(0)
        for place, part in enumerate(parts):
            result = result | (part.astype(whole) << whole(place * width))
        return result

    return Pure(packed, ((f"b{width}",) * count,), (f"b{WIDTH[kind]}",))


def _unpack(kind: str, count: int) -> Pure:
    width = WIDTH[kind] // count
    whole, part = UNSIGNED[WIDTH[kind]].type, UNSIGNED[width]

    def parts(a):
        return tuple((a >> whole(place * width)).astype(part) for place in range(count))

    return Pure(parts if count > 1 else lambda a: parts(a)[0], (f"b{WIDTH[kind]}",), (f"b{width}",) * count)


def _comparison(instruction: Instruction):
    """a, b -> bool. The u forms and nan are true where either is NaN; the plain forms are false, ne too."""
    name = next((each for each in instruction.modifiers if each in _COMPARISON_NAMES), None)
    kind = instruction.type
    if name is None or kind in PAIRS:
        raise UnknownInstruction(instruction)
    compare = _ordered(name) if is_float(kind) else COMPARISONS.get(name)
    if compare is None:
        raise UnknownInstruction(instruction)
    if kind in HALVES:
        widen = half.widen(kind)
        return lambda a, b: compare(widen(a), widen(b))
    if "ftz" in instruction.modifiers:
        return lambda a, b: compare(flush(a), flush(b))
    return compare


def _ordered(name: str):
    if name == "num":
        return lambda a, b: ~(np.isnan(a) | np.isnan(b))
    if name == "nan":
        return lambda a, b: np.isnan(a) | np.isnan(b)
    if name == "ne":
        return lambda a, b: (a < b) | (a > b)
    if name == "neu":
        return operator.ne
    if name.endswith("u"):
        opposite = {"eq": "ne", "lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}[name[:2]]
        compare = _ordered(opposite)
        return lambda a, b: ~compare(a, b)
    return COMPARISONS[name]


_UNORDERED = {"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"}
_COMPARISON_NAMES = set(COMPARISONS) | _UNORDERED


def _operand(kind: str) -> str:
    return f"u{WIDTH[kind]}" if kind in HALVES else kind


def _setp(instruction: Instruction) -> Pure:
    """setp.cmp{.bool} p{|q}, a, b{, c}: p = (a cmp b) bool c, q = !(a cmp b) bool c."""
    known(instruction, *_COMPARISON_NAMES, *BOOLEANS, "ftz")
    compare, combine = _comparison(instruction), _combination(instruction)
    two = not hasattr(instruction.operands[0], "name")

    def results(a, b, *c):
        found = compare(a, b)
        return (combine(found, *c), combine(~found, *c)) if two else combine(found, *c)

    kind = _operand(instruction.type)
    reads = (kind, kind) + ("pred",) * (len(instruction.operands) - 3)
    return Pure(results, reads, ("pred", "pred") if two else ("pred",))


def _combination(instruction: Instruction):
    name = next((each for each in instruction.modifiers if each in BOOLEANS), None)
    if (name is None) != (len(instruction.operands) == 3):
        raise UnknownInstruction(instruction)
    return BOOLEANS[name] if name else lambda found: found


def _set(instruction: Instruction) -> Pure:
    """set: all ones or 1.0 where true."""
    known(instruction, *_COMPARISON_NAMES, *BOOLEANS, "ftz")
    compare, combine = _comparison(instruction), _combination(instruction)
    target = instruction.types[0]
    true, false = (np.float32(1), np.float32(0)) if target == "f32" else (np.uint32(0xFFFFFFFF), np.uint32(0))
    if target not in ("f32", "u32", "s32", "b32") or len(instruction.types) != 2:
        raise UnknownInstruction(instruction)
    kind = _operand(instruction.type)
    reads = (kind, kind) + ("pred",) * (len(instruction.operands) - 3)
    writes = ("f32" if target == "f32" else "u32",)
    return Pure(lambda a, b, *c: np.where(combine(compare(a, b), *c), true, false), reads, writes)


def _selp(instruction: Instruction) -> Pure:
    known(instruction)
    kind = instruction.type
    return Pure(lambda a, b, chosen: np.where(chosen, a, b), (kind, kind, "pred"), (kind,))


def _slct(instruction: Instruction) -> Pure:
    known(instruction, "ftz")
    kind, sign = instruction.types[0], instruction.types[1]
    return Pure(lambda a, b, c: np.where(c >= 0, a, b), (kind, kind, sign), (kind,))


def _cvta(instruction: Instruction) -> Pure:
    """Shared and local memory have a window each in the generic addresses; global addresses are the same there."""
    found = known(instruction, "to", *SPACES)
    (space,) = found - {"to"}
    distance = np.uint64(WINDOWS[SPACES[space]])
    if "to" in found:
        return Pure(lambda a: a - distance, ("u64",), ("u64",))
    return Pure(lambda a: a + distance, ("u64",), ("u64",))


def _isspacep(instruction: Instruction) -> Pure:
    (space,) = known(instruction, *SPACES)
    if SPACES[space] == "global":
        return Pure(lambda a: a >= np.uint64(WINDOWS["local"] + WINDOW_BYTES), ("u64",), ("pred",))
    base = np.uint64(WINDOWS[SPACES[space]])
    return Pure(lambda a: (a - base) < np.uint64(WINDOW_BYTES), ("u64",), ("pred",))


BUILDERS = {
    "mov": _mov,
    "setp": _setp,
    "set": _set,
    "selp": _selp,
    "slct": _slct,
    "cvta": _cvta,
    "isspacep": _isspacep,
}
