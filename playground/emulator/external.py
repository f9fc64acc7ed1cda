"""Calls to functions that a module only declares: the float16 operators that Numba links in from CUDA's cuda_fp16.h.

Numba passes pointers: to the result, then to each operand. Names are the C++ ones, mangled, with its suffix "_nbst".
"""

import re

import numpy as np

from playground.emulator.errors import UnknownInstruction
from playground.emulator.floating import fma_half, relu, saturate
from playground.emulator.instruction import Instruction
from playground.emulator.memory import Access, reach, split_generic
from playground.emulator.operation import Effect

F16 = np.dtype("f2")
F32 = np.dtype("f4")
BOOL = np.dtype("?")

OPERATORS = {"pl": np.add, "mi": np.subtract, "ml": np.multiply, "dv": np.divide}
COMPARISONS = {"eq": np.equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
ARITHMETIC = {"hadd": np.add, "hsub": np.subtract, "hmul": np.multiply, "hdiv": np.divide, "hfma": fma_half}
ARITHMETIC |= {"hmax": np.fmax, "hmin": np.fmin, "hneg": np.negative, "habs": np.abs}
MATHS = {"hexp": np.exp, "hexp2": np.exp2, "hexp10": lambda x: np.power(np.float32(10), x), "hlog": np.log}
MATHS |= {"hlog2": np.log2, "hlog10": np.log10, "hsin": np.sin, "hcos": np.cos, "htanh": np.tanh, "hsqrt": np.sqrt}
MATHS |= {"hrsqrt": lambda x: 1 / np.sqrt(x), "hrcp": lambda x: 1 / x, "hceil": np.ceil, "hfloor": np.floor}
MATHS |= {"hrint": np.rint, "htrunc": np.trunc}
CONSTRUCTORS = {
    "d": "f8",
    "f": "f4",
    "i": "i4",
    "j": "u4",
    "l": "i8",
    "m": "u8",
    "s": "i2",
    "t": "u2",
    "x": "i8",
    "y": "u8",
}


def build(instruction: Instruction, index: int):
    """The operation of a call to a known external function, or None if it is no call."""
    if instruction.name != "call":
        return None
    results, target, arguments = instruction.operands
    if target.name == "vprintf":
        raise UnknownInstruction(instruction, "print() is not emulated")
    found = _function(target.name)
    if found is None or len(results.items) != 1:
        raise UnknownInstruction(instruction)
    function, skipped, sources, result = found
    if len(arguments.items) != skipped + 1 + len(sources):
        raise UnknownInstruction(instruction)

    def call(group, mask, _, pointers):
        lanes = group.active(mask)
        values = [
            _read(group, index, lanes, pointer, dtype) for pointer, dtype in zip(pointers[skipped + 1 :], sources)
        ]
        _write(group, index, lanes, pointers[skipped], np.asarray(function(*values)).astype(result))
        return np.uint32(0)

    return Effect(call, ("parameter", ("u64",) * len(arguments.items)), ("b32",))


def _function(name: str):
    """(function of float32 or of the operands themselves, pointers to skip, operand dtypes, result dtype), or None."""
    if match := re.fullmatch(r"_Z(\w\w)RK6__half(S1_)?_nbst", name):
        operator, binary = match[1], bool(match[2])
        if binary and operator in OPERATORS:
            return _in_float32(OPERATORS[operator]), 0, (F16, F16), F16
        if binary and (operator in COMPARISONS or operator == "ne"):
            return COMPARISONS.get(operator, _not_equal), 0, (F16, F16), BOOL
        if not binary and operator in ("ng", "ps"):
            return (np.negative if operator == "ng" else np.positive), 0, (F16,), F16
    if match := re.fullmatch(r"_ZL\d+(?:__)?(h[a-z0-9]+?)(_sat|_rn|_relu|u)?6__half(S_)*_nbst", name):
        return _named(match[1], match[2] or "", name.count("S_") + 1)
    match = re.fullmatch(r"_ZN6__halfC1E(\w)_nbst", name)
    if match and match[1] in CONSTRUCTORS:
        # The first pointer is to an unused result: a constructor writes through `self`.
        return (lambda x: x), 1, (np.dtype(CONSTRUCTORS[match[1]]),), F16
    return None


def _named(name: str, variant: str, operands: int):
    sources = (F16,) * operands
    if name in ARITHMETIC and variant != "u":
        function = ARITHMETIC[name]
        finish = {"_sat": saturate, "_relu": relu}.get(variant, lambda x: x)
        return _in_float32(lambda *values: finish(function(*values))), 0, sources, F16
    if name in MATHS and not variant:
        return _in_float32(MATHS[name]), 0, sources, F16
    comparison = COMPARISONS.get(name[1:], _not_equal if name == "hne" else None)
    if comparison is None or variant not in ("", "u"):
        return None
    if variant == "u":
        return (lambda a, b: comparison(a, b) | np.isnan(a) | np.isnan(b)), 0, sources, BOOL
    return comparison, 0, sources, BOOL


def _in_float32(function):
    return lambda *values: function(*(value.astype(F32) for value in values))


def _not_equal(a, b):
    return (a < b) | (a > b)


def _read(group, index: int, lanes, pointer, dtype):
    """Values at a generic pointer, (lanes,), 0 in the lanes that do not take part."""
    result = 0
    access = Access(index, "generic", dtype.itemsize, 1)
    for own, address, space in split_generic(group, lanes, group.gather(lanes, pointer)):
        found, offsets, words = reach(group, access, space, own, address, writes=False)
        part = group.place(found, words[dtype.itemsize][offsets // dtype.itemsize])
        result = result | part
    return result.view(dtype)


def _write(group, index: int, lanes, pointer, values):
    access = Access(index, "generic", values.dtype.itemsize, 1)
    bits = group.spread(values).view(f"u{values.dtype.itemsize}")
    for own, address, space in split_generic(group, lanes, group.gather(lanes, pointer)):
        found, offsets, words = reach(group, access, space, own, address, writes=True)
        words[access.element][offsets // access.element] = bits[found]
