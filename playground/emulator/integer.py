"""Integer arithmetic, logic and bit fields.

Source: PTX ISA, "Integer Arithmetic Instructions", "Extended-Precision Integer Arithmetic Instructions", "Logic and
Shift Instructions".
"""

import numpy as np

from playground.emulator.errors import UnknownInstruction
from playground.emulator.instruction import Immediate, Instruction
from playground.emulator.operation import Pure, known
from playground.emulator.types import SIGNED, UNSIGNED, WIDTH, is_float, is_signed, value

LOW32 = np.uint64(0xFFFFFFFF)
SHIFT32 = np.uint64(32)


def build(instruction: Instruction):
    """The operation of an integer instruction, or None if it is of another family."""
    if not instruction.types or any(is_float(kind) for kind in instruction.types):
        return None
    builder = BUILDERS.get(instruction.name)
    return builder(instruction) if builder else None


def unsigned(kind: str) -> str:
    return f"u{WIDTH[kind]}"


def _wrapping(function):
    """Sums and low products are the same bits whether the operands are signed or not."""

    def builder(instruction: Instruction) -> Pure:
        known(instruction)
        kind = unsigned(instruction.type)
        return Pure(function, (kind, kind), (kind,))

    return builder


def _same_type(function, operands: int):
    def builder(instruction: Instruction) -> Pure:
        known(instruction)
        return Pure(function, (instruction.type,) * operands, (instruction.type,))

    return builder


def _sum(function, with_carry):
    """add and sub: wrapping, saturating, or leaving a carry."""

    def builder(instruction: Instruction) -> Pure:
        if "sat" in known(instruction, "sat", "cc"):
            return _saturating(instruction, function)
        if "cc" in instruction.modifiers:
            return _with_carry(instruction, lambda a, b: with_carry(a, b, np.False_), 2, "out")
        return _wrapping(function)(instruction)

    return builder


def _saturating(instruction: Instruction, function) -> Pure:
    if instruction.type != "s32":
        raise UnknownInstruction(instruction)
    low, high = np.iinfo(np.int32).min, np.iinfo(np.int32).max

    def clamped(a, b):
        return np.clip(function(a.astype(np.int64), b.astype(np.int64)), low, high).astype(np.int32)

    return Pure(clamped, ("s32", "s32"), ("s32",))


def _with_carry(instruction: Instruction, function, operands: int, carry: str) -> Pure:
    kind = unsigned(instruction.type)
    outputs = (kind, "pred") if "out" in carry else (kind,)
    result = function if "out" in carry else lambda *operands: function(*operands)[0]
    return Pure(result, (kind,) * operands, outputs, carry)


def _carried_sum(with_carry):
    """addc and subc."""

    def builder(instruction: Instruction) -> Pure:
        carry = "in out" if "cc" in known(instruction, "cc") else "in"
        return _with_carry(instruction, with_carry, 2, carry)

    return builder


def add_with_carry(a, b, carry):
    partial = a + b
    total = partial + carry.astype(a.dtype)
    return total, (partial < a) | (total < partial)


def subtract_with_borrow(a, b, borrow):
    partial = a - b
    total = partial - borrow.astype(a.dtype)
    return total, (a < b) | (partial < total)


def low_product(a, b):
    return a * b


def high_product(kind: str):
    """The upper half of the double-width product."""
    if WIDTH[kind] < 64:
        wide = (SIGNED if is_signed(kind) else UNSIGNED)[2 * WIDTH[kind]]
        return lambda a, b: ((a.astype(wide) * b.astype(wide)) >> wide.type(WIDTH[kind])).astype(value(kind))
    return _signed_high_product_64 if is_signed(kind) else high_product_64


def high_product_64(a, b):
    low_a, high_a, low_b, high_b = a & LOW32, a >> SHIFT32, b & LOW32, b >> SHIFT32
    middle = high_a * low_b + (low_a * low_b >> SHIFT32)
    other = low_a * high_b + (middle & LOW32)
    return high_a * high_b + (middle >> SHIFT32) + (other >> SHIFT32)


def _signed_high_product_64(a, b):
    bits_a, bits_b = a.view(np.uint64), b.view(np.uint64)
    negative = np.int64(0)
    correction = np.where(a < negative, bits_b, np.uint64(0)) + np.where(b < negative, bits_a, np.uint64(0))
    return (high_product_64(bits_a, bits_b) - correction).view(np.int64)


def wide_product(kind: str):
    wide = (SIGNED if is_signed(kind) else UNSIGNED)[2 * WIDTH[kind]]
    return lambda a, b: a.astype(wide) * b.astype(wide)


def _mul(instruction: Instruction) -> Pure:
    kind = instruction.type
    part = known(instruction, "lo", "hi", "wide")
    if part == {"lo"}:
        return _wrapping_product(kind)
    if part == {"hi"}:
        return Pure(high_product(kind), (kind, kind), (kind,))
    if part == {"wide"} and WIDTH[kind] < 64:
        return Pure(wide_product(kind), (kind, kind), (_doubled(kind),))
    raise UnknownInstruction(instruction)


def _wrapping_product(kind: str) -> Pure:
    kind = unsigned(kind)
    return Pure(low_product, (kind, kind), (kind,))


def _doubled(kind: str) -> str:
    return f"{kind[0]}{2 * WIDTH[kind]}"


def _mad(instruction: Instruction) -> Pure:
    kind = instruction.type
    found = known(instruction, "lo", "hi", "wide", "cc")
    part = found - {"cc"}
    if "cc" in found and part <= {"lo", "hi"} and part:
        product = low_product if part == {"lo"} else high_product(unsigned(kind))
        return _with_carry(instruction, lambda a, b, c: add_with_carry(product(a, b), c, np.False_), 3, "out")
    if part == {"lo"}:
        kind = unsigned(kind)
        return Pure(lambda a, b, c: a * b + c, (kind,) * 3, (kind,))
    if part == {"hi"}:
        product = high_product(kind)
        return Pure(lambda a, b, c: product(a, b) + c, (kind,) * 3, (kind,))
    if part == {"wide"} and WIDTH[kind] < 64:
        product = wide_product(kind)
        return Pure(lambda a, b, c: product(a, b) + c, (kind, kind, _doubled(kind)), (_doubled(kind),))
    raise UnknownInstruction(instruction)


def _madc(instruction: Instruction) -> Pure:
    found = known(instruction, "lo", "hi", "cc")
    carry = "in out" if "cc" in found else "in"
    product = {"lo": low_product, "hi": high_product(unsigned(instruction.type))}[(found - {"cc"}).pop()]
    return _with_carry(instruction, lambda a, b, c, carry: add_with_carry(product(a, b), c, carry), 3, carry)


def quotient(a, b):
    """Towards zero. By zero: all bits set, as the hardware's sequence gives; the ISA leaves it undefined."""
    safe = np.where(b == 0, b.dtype.type(1), b)
    result = a // safe
    if a.dtype.kind == "i":
        result = result + ((result < 0) & (result * safe != a)).astype(a.dtype)
    return np.where(b == 0, ~a.dtype.type(0), result)


def remainder(a, b):
    """With the sign of the dividend. By zero: the dividend."""
    return np.where(b == 0, a, a - quotient(a, b) * b)


def bit_field(a, position, length):
    """bfe: `length` bits from `position` on; signed types extend the field's top bit. Source: PTX ISA, "bfe"."""
    width = a.dtype.itemsize * 8
    bits = a.view(UNSIGNED[width])
    position, length = _low_byte(position), _low_byte(length)
    inside = np.clip(np.minimum(length, width - position), 0, width)
    mask = _ones(inside, bits.dtype)
    field = _shift_right(bits, position) & mask
    if a.dtype.kind == "u":
        return field
    top = np.minimum(position + length - 1, width - 1)
    sign = (_shift_right(bits, top) & bits.dtype.type(1)).astype(bool) & (length > 0)
    return np.where(sign, field | ~mask, field).view(a.dtype)


def _low_byte(a):
    return (a & np.uint32(0xFF)).astype(np.int64)


def _ones(length, dtype):
    """As many low bits set as `length` says, at most all."""
    return np.where(length >= 8 * dtype.itemsize, ~dtype.type(0), _shift_left(dtype.type(1), length) - dtype.type(1))


def insert_field(source, into, position, length):
    """bfi. Source: PTX ISA, "bfi"."""
    position, length = _low_byte(position), _low_byte(length)
    mask = _shift_left(_ones(length, into.dtype), position)
    return (into & ~mask) | (_shift_left(source, position) & mask)


def _shift_left(a, amount):
    """Amounts of the width and above give 0: NumPy leaves them undefined."""
    width = a.dtype.itemsize * 8
    amount = np.asarray(amount)
    clamped = np.minimum(amount, width - 1).astype(a.dtype)
    return np.where(amount >= width, a.dtype.type(0), a << clamped)


def _shift_right(a, amount):
    """Amounts of the width and above give 0, or copies of the sign."""
    width = a.dtype.itemsize * 8
    amount = np.asarray(amount)
    clamped = np.minimum(amount, width - 1).astype(a.dtype)
    shifted = a >> clamped
    return shifted if a.dtype.kind == "i" else np.where(amount >= width, a.dtype.type(0), shifted)


def _shift(function, operator):
    def builder(instruction: Instruction) -> Pure:
        known(instruction)
        kind, amount = instruction.type, instruction.operands[2]
        if isinstance(amount, Immediate) and 0 <= int(amount.text, 0) < WIDTH[kind]:
            constant = value(kind).type(int(amount.text, 0))
            return Pure(lambda a, _: operator(a, constant), (kind, "u32"), (kind,))
        return Pure(function, (kind, "u32"), (kind,))

    return builder


def funnel_shift(instruction: Instruction) -> Pure:
    """shf: 32 bits out of the 64 of b:a. Source: PTX ISA, "shf"."""
    found = known(instruction, "l", "r", "wrap", "clamp")

    def shifted(low, high, amount):
        amount = amount & np.uint32(31) if "wrap" in found else np.minimum(amount, np.uint32(32))
        both = (high.astype(np.uint64) << SHIFT32) | low.astype(np.uint64)
        amount = amount.astype(np.uint64)
        return ((both >> amount) if "r" in found else (both << amount) >> SHIFT32).astype(np.uint32)

    return Pure(shifted, ("u32",) * 3, ("u32",))


def _lop3(instruction: Instruction) -> Pure:
    """Any function of three bits: bit i of the table is the result for a, b, c = the bits of i, a the highest."""
    known(instruction)

    def looked_up(a, b, c, table):
        result = np.uint32(0)
        for row in range(8):
            chosen = (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
            result = result | np.where((table >> np.uint32(row)) & np.uint32(1), chosen, np.uint32(0))
        return result

    return Pure(looked_up, ("u32",) * 4, ("u32",))


def permute_bytes(a, b, selector):
    """prmt in its default mode: each nibble picks a byte of b:a, its top bit copies that byte's sign instead."""
    both = (b.astype(np.uint64) << SHIFT32) | a.astype(np.uint64)
    result = np.uint32(0)
    for place in range(4):
        nibble = (selector >> np.uint32(4 * place)) & np.uint32(15)
        byte = (both >> ((nibble & np.uint32(7)).astype(np.uint64) * np.uint64(8))) & np.uint64(0xFF)
        sign = np.where(byte & np.uint64(0x80), np.uint64(0xFF), np.uint64(0))
        byte = np.where(nibble & np.uint32(8), sign, byte).astype(np.uint32)
        result = result | (byte << np.uint32(8 * place))
    return result


def population(a):
    return np.bitwise_count(a).astype(np.uint32)


def leading_zeros(a):
    width = a.dtype.itemsize * 8
    for step in (1, 2, 4, 8, 16, 32):
        if step < width:
            a = a | (a >> a.dtype.type(step))
    return np.uint32(width) - population(a)


def reverse_bits(a):
    width = a.dtype.itemsize * 8
    result = a.byteswap()
    for step, mask in ((4, 0x0F), (2, 0x33), (1, 0x55)):
        mask = a.dtype.type(int.from_bytes(bytes([mask]) * (width // 8), "little"))
        step = a.dtype.type(step)
        result = ((result & mask) << step) | ((result >> step) & mask)
    return result


def highest_bit(shift_amount: bool):
    """bfind: the position of the highest bit that differs from the sign; all ones if there is none."""

    def found(a):
        bits = np.where(a < 0, ~a, a).view(UNSIGNED[a.dtype.itemsize * 8]) if a.dtype.kind == "i" else a
        zeros = leading_zeros(bits)
        width = np.uint32(a.dtype.itemsize * 8)
        none = bits == bits.dtype.type(0)
        return np.where(none, np.uint32(0xFFFFFFFF), zeros if shift_amount else width - np.uint32(1) - zeros)

    return found


def _bfind(instruction: Instruction) -> Pure:
    shift_amount = "shiftamt" in known(instruction, "shiftamt")
    return Pure(highest_bit(shift_amount), (instruction.type,), ("u32",))


def _to_u32(function):
    def builder(instruction: Instruction) -> Pure:
        known(instruction)
        return Pure(function, (unsigned(instruction.type),), ("u32",))

    return builder


def _bit_field(instruction: Instruction) -> Pure:
    known(instruction)
    return Pure(bit_field, (instruction.type, "u32", "u32"), (instruction.type,))


def _insert_field(instruction: Instruction) -> Pure:
    known(instruction)
    return Pure(insert_field, (instruction.type, instruction.type, "u32", "u32"), (instruction.type,))


def _not(instruction: Instruction) -> Pure:
    known(instruction)
    return Pure(np.invert, (instruction.type,), (instruction.type,))


def _sum_of_differences(a, b, c):
    return c + np.where(a < b, b - a, a - b).astype(c.dtype)


def _sad(instruction: Instruction) -> Pure:
    known(instruction)
    return Pure(_sum_of_differences, (instruction.type,) * 3, (instruction.type,))


BUILDERS = {
    "add": _sum(np.add, add_with_carry),
    "sub": _sum(np.subtract, subtract_with_borrow),
    "addc": _carried_sum(add_with_carry),
    "subc": _carried_sum(subtract_with_borrow),
    "mul": _mul,
    "mad": _mad,
    "madc": _madc,
    "div": _same_type(quotient, 2),
    "rem": _same_type(remainder, 2),
    "min": _same_type(np.minimum, 2),
    "max": _same_type(np.maximum, 2),
    "neg": _same_type(np.negative, 1),
    "abs": _same_type(np.abs, 1),
    "sad": _sad,
    "and": _same_type(np.bitwise_and, 2),
    "or": _same_type(np.bitwise_or, 2),
    "xor": _same_type(np.bitwise_xor, 2),
    "not": _not,
    "cnot": _same_type(lambda a: (a == a.dtype.type(0)).astype(a.dtype), 1),
    "shl": _shift(_shift_left, np.left_shift),
    "shr": _shift(_shift_right, np.right_shift),
    "shf": funnel_shift,
    "lop3": _lop3,
    "prmt": _same_type(permute_bytes, 3),
    "popc": _to_u32(population),
    "clz": _to_u32(leading_zeros),
    "brev": _same_type(reverse_bits, 1),
    "bfind": _bfind,
    "bfe": _bit_field,
    "bfi": _insert_field,
}
