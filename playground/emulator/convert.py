"""cvt between all integers and floats, with every rounding and saturation.

Source: PTX ISA, "Data Movement and Conversion Instructions: cvt".
"""

import numpy as np

from playground.emulator import bfloat, half
from playground.emulator.errors import UnknownInstruction
from playground.emulator.floating import PAIRS, flush, flush_half, relu, saturate
from playground.emulator.instruction import Instruction
from playground.emulator.operation import Pure, known
from playground.emulator.rounding import MODES, integer_pair, odd, round_pair
from playground.emulator.types import FLOATS, WIDTH, is_float, value

TO_INTEGRAL = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def build(instruction: Instruction):
    if instruction.name != "cvt":
        return None
    known(instruction, *MODES, *TO_INTEGRAL, "ftz", "sat", "relu")
    if len(instruction.types) != 2:
        raise UnknownInstruction(instruction)
    target, source = instruction.types
    if target in PAIRS:
        return _pack_pair(instruction, target)
    if source in PAIRS:
        raise UnknownInstruction(instruction)
    if is_float(target):
        convert = _float_to_float(instruction) if is_float(source) else _integer_to_float(instruction)
    else:
        convert = _float_to_integer(instruction) if is_float(source) else _integer_to_integer(instruction)
    return Pure(convert, (_bits(source),), (_bits(target),))


def _bits(kind: str) -> str:
    return "u16" if kind == "bf16" else kind


def _one(instruction: Instruction, names, default=None):
    found = [modifier for modifier in instruction.modifiers if modifier in names]
    return found[0] if found else default


def _integer_to_integer(instruction: Instruction):
    target = value(instruction.types[0])
    if "sat" not in instruction.modifiers:
        return lambda a: a.astype(target)
    limits = np.iinfo(target)

    def clamped(a):
        own = np.iinfo(a.dtype)
        return np.clip(a, max(own.min, limits.min), min(own.max, limits.max)).astype(target)

    return clamped


def _float_to_integer(instruction: Instruction):
    """Out of range goes to the nearest limit. NaN: 0, or the top bit alone if either side has 64 bits."""
    target, source = instruction.types
    dtype = value(target)
    limits = np.iinfo(dtype)
    lowest, beyond = float(limits.min), float(limits.max + 1)
    to_integral = TO_INTEGRAL.get(_one(instruction, TO_INTEGRAL))
    if to_integral is None:
        raise UnknownInstruction(instruction)
    wide = WIDTH[target] == 64 or source == "f64"
    not_a_number = dtype.type(limits.min if limits.min else limits.max // 2 + 1) if wide else dtype.type(0)
    read = _reader(source, "ftz" in instruction.modifiers)

    def convert(a):
        integral = to_integral(read(a).astype(np.float64))
        inside = (integral >= lowest) & (integral < beyond)
        result = np.where(inside, integral, 0.0).astype(dtype)
        result = np.where(integral < lowest, dtype.type(limits.min), result)
        result = np.where(integral >= beyond, dtype.type(limits.max), result)
        return np.where(np.isnan(integral), not_a_number, result)

    return convert


def _integer_to_float(instruction: Instruction):
    target = instruction.types[0]
    mode = _one(instruction, MODES)
    if mode is None:
        raise UnknownInstruction(instruction)
    if mode == "rn" and target in ("f32", "f64"):
        convert = _cast(FLOATS[target])
    elif target == "f64":
        raise UnknownInstruction(instruction)
    else:
        write = _writer(target, mode)
        convert = lambda a: write(*integer_pair(a))  # noqa: E731
    return _saturated(convert) if "sat" in instruction.modifiers else convert


def _cast(dtype):
    return lambda a: a.astype(dtype)


def _saturated(function):
    return lambda *operands: saturate(function(*operands))


def _float_to_float(instruction: Instruction):
    target, source = instruction.types
    flushes = "ftz" in instruction.modifiers
    read = _reader(source, flushes)
    integral = _one(instruction, TO_INTEGRAL)
    mode = _one(instruction, MODES)
    narrows = WIDTH[target] < WIDTH[source] or {target, source} == {"f16", "bf16"}
    if (narrows and mode is None) or (integral and target != source):
        raise UnknownInstruction(instruction)
    if narrows:
        convert = _narrowing(target, mode)
    else:
        to_integral = TO_INTEGRAL.get(integral, lambda a: a)
        same = _narrowing(target, "rn") if WIDTH[target] == 16 else _cast(FLOATS[target])
        convert = lambda a: same(to_integral(a))  # noqa: E731

    def converted(a):
        result = convert(read(a))
        if flushes and target == "f32":
            result = flush(result)
        if "sat" in instruction.modifiers:
            result = saturate(result)
        return result

    return _with_relu(converted, instruction)


def _with_relu(function, instruction: Instruction):
    if "relu" not in instruction.modifiers:
        return function
    if instruction.types[0] != "f16":
        raise UnknownInstruction(instruction)
    return lambda a: relu(function(a))


def _reader(kind: str, flushes: bool):
    if kind == "bf16":
        return bfloat.widen
    if flushes and kind == "f32":
        return flush
    return (lambda a: flush_half(a)) if flushes and kind == "f16" else (lambda a: a)


def _narrowing(target: str, mode: str):
    if mode == "rn" and target == "bf16":
        return half.narrow("bf16")
    if mode == "rn":
        return lambda a: _canonical(a.astype(FLOATS[target]))
    write = _writer(target, mode)
    return lambda a: write(a.astype(np.float64), np.float64(0))


def _canonical(a):
    if a.dtype != np.float16:
        return a
    bad = np.isnan(a)
    return np.where(bad, half.NAN.view(np.float16), a) if bad.any() else a


def _writer(target: str, mode: str):
    """(high, low) -> the target's value, rounded once."""
    if target != "bf16":
        return lambda high, low: _canonical(round_pair(high, low, FLOATS[target], mode))
    if mode == "rn":
        return lambda high, low: half.narrow("bf16")(odd(high, low))
    if mode == "rz":
        return lambda high, low: bfloat.narrow(round_pair(high, low, np.dtype("f4"), "rz"), "rz")
    raise ValueError(f"bf16 is not rounded by {mode}")


def _pack_pair(instruction: Instruction, target: str) -> Pure:
    """cvt.rn.f16x2.f32 d, a, b: a becomes the upper half of d, b the lower."""
    mode = _one(instruction, MODES)
    element = target.removesuffix("x2")
    if instruction.types[1] != "f32" or mode not in ("rn", "rz") or len(instruction.operands) != 3:
        raise UnknownInstruction(instruction)
    known(instruction, "rn", "rz", "relu")
    narrow = _narrowing(element, mode)
    before = relu if "relu" in instruction.modifiers else lambda a: a

    def packed(high, low):
        return half.pack(narrow(before(low)).view(np.uint16), narrow(before(high)).view(np.uint16))

    return Pure(packed, ("f32", "f32"), ("u32",))
