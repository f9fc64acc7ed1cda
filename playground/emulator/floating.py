"""Floating-point arithmetic of f16, bf16, their pairs, f32 and f64.

Source: PTX ISA, "Floating Point Instructions", "Half Precision Floating-Point Instructions", "Rounding Modifiers". The
.approx functions are the nearest float32: a GPU's own differ from it by what the ISA allows (2^-22 relative for ex2).
NaN results carry no promise about their payload.
"""

from functools import partial

import numpy as np

from playground.emulator import half
from playground.emulator.errors import UnknownInstruction
from playground.emulator.instruction import Instruction
from playground.emulator.operation import Pure, known
from playground.emulator.rounding import MODES, fma32, fma64, odd, round_pair, two_product, two_sum
from playground.emulator.types import is_float

PAIRS = ("f16x2", "bf16x2")
HALVES = ("f16", "bf16", *PAIRS)


def build(instruction: Instruction):
    """The operation of a floating-point instruction, or None if it is of another family."""
    if not instruction.types or not is_float(instruction.type):
        return None
    builder = BUILDERS.get(instruction.name)
    return builder(instruction) if builder else None


def flush(x):
    """.ftz: subnormal float32 become zeros of their sign."""
    bits = np.asarray(x).view(np.uint32)
    subnormal = (bits << np.uint32(1)) - np.uint32(1) < np.uint32(0x00FFFFFF)
    return np.where(subnormal, np.copysign(np.float32(0), x), x) if subnormal.any() else x


def saturate(x):
    """.sat: to [0, 1], NaN to 0."""
    one, zero = x.dtype.type(1), x.dtype.type(0)
    return np.where(x > zero, np.minimum(x, one), zero)


def _finish(instruction: Instruction, function, operands: int) -> Pure:
    """Wrap a float32 or float64 function in what .ftz and .sat ask for."""
    kind = instruction.type
    if "ftz" in instruction.modifiers:
        if kind != "f32":
            raise UnknownInstruction(instruction)
        function = _flushed(function)
    if "sat" in instruction.modifiers:
        function = _then(function, saturate)
    return Pure(function, (kind,) * operands, (kind,))


def _flushed(function):
    return lambda *operands: flush(function(*map(flush, operands)))


def _then(function, last):
    return lambda *operands: last(function(*operands))


def _mode(instruction: Instruction) -> str:
    modes = [modifier for modifier in instruction.modifiers if modifier in MODES]
    return modes[0] if modes else "rn"


def _exact_sum(a, b):
    return two_sum(a.astype(np.float64), b.astype(np.float64))


def _exact_difference(a, b):
    return two_sum(a.astype(np.float64), -b.astype(np.float64))


def _exact_product(a, b):
    return a.astype(np.float64) * b.astype(np.float64), np.float64(0)


def _quotient_pair(a, b):
    """The low part has the right sign and is small: that is all that a directed rounding asks of it."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    high = a / b
    product, lost = two_product(high, b)
    return high, np.where(np.isfinite(high), ((a - product) - lost) / b, 0.0)


def _root_pair(a):
    a = a.astype(np.float64)
    high = np.sqrt(a)
    product, lost = two_product(high, high)
    return high, np.where(high > 0, ((a - product) - lost) / (2 * high), 0.0)


def _arithmetic(nearest, pair, operands: int, *also: str):
    """An operation that NumPy rounds to nearest; the other modes round the exact pair."""

    def builder(instruction: Instruction) -> Pure:
        kind = instruction.type
        known(instruction, *MODES, "ftz", "sat", *also)
        if kind in HALVES:
            return _half(instruction, nearest, operands)
        mode = _mode(instruction)
        if mode == "rn" or "approx" in instruction.modifiers or "full" in instruction.modifiers:
            return _finish(instruction, nearest, operands)
        if kind != "f32":
            raise UnknownInstruction(instruction)
        return _finish(instruction, lambda *x: round_pair(*pair(*x), np.dtype("f4"), mode), operands)

    return builder


def _half(instruction: Instruction, function, operands: int) -> Pure:
    """16-bit operands are widened, computed and rounded once more: float32 has room enough for that to be exact."""
    kind = instruction.type
    if _mode(instruction) != "rn" or ("ftz" in instruction.modifiers and kind.startswith("bf16")):
        raise UnknownInstruction(instruction)
    widen, narrow = half.widen(kind), half.narrow(kind)
    flushes, saturates = "ftz" in instruction.modifiers, "sat" in instruction.modifiers
    read = _then(widen, flush_half) if flushes else widen

    def element(*bits):
        result = function(*map(read, bits))
        result = saturate(result) if saturates else result
        return narrow(flush_half(result) if flushes else result)

    kind = "u32" if kind in PAIRS else "u16"
    return Pure(half.per_element(element) if kind == "u32" else element, (kind,) * operands, (kind,))


def flush_half(x):
    return np.where(np.abs(x) < x.dtype.type(2.0**-14), np.copysign(x.dtype.type(0), x), x)


def _fma_pair(a, b, c):
    """a·b + c as an exact pair: the product of two floats of up to 32 bits is exact in double."""
    return two_sum(a.astype(np.float64) * b, c.astype(np.float64))


def fma_half(a, b, c):
    """Of 16-bit floats that are kept as float32: the sum is rounded to odd, which keeps the last rounding right."""
    return odd(*_fma_pair(a, b, c))


def _fma(instruction: Instruction) -> Pure:
    kind, mode = instruction.type, _mode(instruction)
    found = known(instruction, *MODES, "ftz", "sat", "relu")
    if kind in HALVES:
        return _half(instruction, _then(fma_half, relu) if "relu" in found else fma_half, 3)
    if "relu" in found:
        raise UnknownInstruction(instruction)
    if kind == "f64":
        return _finish(instruction, partial(fma64, mode=mode), 3)
    if mode == "rn":
        return _finish(instruction, fma32, 3)
    return _finish(instruction, lambda a, b, c: round_pair(*_fma_pair(a, b, c), np.dtype("f4"), mode), 3)


def relu(x):
    return np.where(x > 0, x, x.dtype.type(0))


def _extreme(pick, pick_nan):
    """min and max: the other operand where one is NaN, or NaN with .NaN; -0 is less than +0."""

    def ordered(function):
        def chosen(a, b):
            result = function(a, b)
            zeros = (a == 0) & (b == 0)
            return np.where(zeros, _signed_zero(a, b, pick is np.fmin), result) if np.any(zeros) else result

        return chosen

    def builder(instruction: Instruction) -> Pure:
        found = known(instruction, "ftz", "NaN")
        if len(instruction.operands) != 3:
            raise UnknownInstruction(instruction)
        function = ordered(pick_nan if "NaN" in found else pick)
        if instruction.type in HALVES:
            return _half(instruction, function, 2)
        return _finish(instruction, function, 2)

    return builder


def _signed_zero(a, b, smaller: bool):
    negative = (np.signbit(a) | np.signbit(b)) if smaller else (np.signbit(a) & np.signbit(b))
    return np.where(negative, a.dtype.type(-0.0), a.dtype.type(0))


def _sign_only(function, half_function):
    """neg and abs: they touch the sign bit and round nothing."""

    def builder(instruction: Instruction) -> Pure:
        known(instruction, "ftz")
        kind = instruction.type
        if kind in HALVES and "ftz" not in instruction.modifiers:
            packed = kind in PAIRS
            mask = np.uint32(0x80008000) if packed else np.uint16(0x8000)
            kind = "u32" if packed else "u16"
            return Pure(lambda a: half_function(a, mask), (kind,), (kind,))
        return _half(instruction, function, 1) if kind in HALVES else _finish(instruction, function, 1)

    return builder


def _copysign(instruction: Instruction) -> Pure:
    known(instruction)
    kind = instruction.type
    return Pure(lambda sign, size: np.copysign(size, sign), (kind, kind), (kind,))


def _approximation(function, *kinds: str, precise: str = ""):
    """A function of one operand in float32; `precise`: the modifier besides .approx under which it is the same."""

    def builder(instruction: Instruction) -> Pure:
        found = known(instruction, "approx", "ftz", *precise.split())
        kind = instruction.type
        if kind not in kinds or not found - {"ftz"}:
            raise UnknownInstruction(instruction)
        if kind in HALVES:
            return _half(instruction, function, 1)
        if kind == "f64":
            return Pure(function, ("f64",), ("f64",))
        return _finish(instruction, function, 1)

    return builder


def _reciprocal(a):
    return a.dtype.type(1) / a


def _reciprocal_root(a):
    return a.dtype.type(1) / np.sqrt(a)


def truncated_64(function):
    """rcp.approx.ftz.f64 and rsqrt: the result's lower 32 bits are zero. Source: PTX ISA, "rcp.approx.ftz.f64"."""

    def truncated(a):
        return (np.asarray(function(a)).view(np.uint64) & np.uint64(0xFFFFFFFF00000000)).view(np.float64)

    return truncated


def _rcp(instruction: Instruction) -> Pure:
    if instruction.type == "f64" and "approx" in instruction.modifiers:
        known(instruction, "approx", "ftz")
        return Pure(truncated_64(_reciprocal), ("f64",), ("f64",))
    return _arithmetic(_reciprocal, lambda a: _quotient_pair(np.float32(1), a), 1, "approx")(instruction)


def _rsqrt(instruction: Instruction) -> Pure:
    known(instruction, "approx", "ftz")
    if instruction.type == "f64":
        function = truncated_64(_reciprocal_root) if "ftz" in instruction.modifiers else _reciprocal_root
        return Pure(function, ("f64",), ("f64",))
    return _finish(instruction, lambda a: _reciprocal_root(a.astype(np.float64)).astype(np.float32), 1)


BUILDERS = {
    "add": _arithmetic(np.add, _exact_sum, 2),
    "sub": _arithmetic(np.subtract, _exact_difference, 2),
    "mul": _arithmetic(np.multiply, _exact_product, 2),
    "div": _arithmetic(np.divide, _quotient_pair, 2, "approx", "full"),
    "sqrt": _arithmetic(np.sqrt, _root_pair, 1, "approx"),
    "rcp": _rcp,
    "rsqrt": _rsqrt,
    "fma": _fma,
    "mad": _fma,
    "min": _extreme(np.fmin, np.minimum),
    "max": _extreme(np.fmax, np.maximum),
    "neg": _sign_only(np.negative, np.bitwise_xor),
    "abs": _sign_only(np.abs, lambda a, mask: a & ~mask),
    "copysign": _copysign,
    "ex2": _approximation(np.exp2, "f32", "f16", "f16x2", "bf16", "bf16x2"),
    "lg2": _approximation(np.log2, "f32"),
    "sin": _approximation(np.sin, "f32"),
    "cos": _approximation(np.cos, "f32"),
    "tanh": _approximation(np.tanh, "f32", "f16", "f16x2", "bf16", "bf16x2"),
}
