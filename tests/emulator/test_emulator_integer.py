"""Integer instructions against Python's unbounded integers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ptx_harness import LANES, SEEDS, evaluate, integers

quick = settings(max_examples=8, derandomize=True, deadline=None)
WIDTHS = (16, 32, 64)


def dtype_of(kind: str):
    return np.dtype(f"{'i' if kind[0] == 's' else 'u'}{int(kind[1:]) // 8}")


def wrap(value: int, kind: str) -> int:
    width = int(kind[1:])
    value %= 1 << width
    return value - (1 << width) if kind[0] == "s" and value >> (width - 1) else value


def amounts(seed: int):
    """Shift amounts and bit positions, some of them beyond the width."""
    return np.random.default_rng(seed).integers(0, 80, LANES, np.uint32)


def expect(function, kind: str, *arrays):
    rows = zip(*(array.tolist() for array in arrays))
    return np.array([wrap(function(*row), kind) for row in rows], dtype_of(kind))


def towards_zero(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


TWO = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul.lo": lambda a, b: a * b,
    "min": min,
    "max": max,
}
BITS = {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b}


@pytest.mark.parametrize("kind", [f"{sign}{width}" for sign in "us" for width in WIDTHS])
@pytest.mark.parametrize("name", TWO)
@quick
@given(data=st.data())
def test_two_operands(name, kind, data):
    a, b = data.draw(integers(kind)), data.draw(integers(kind))
    assert (evaluate(f"{name}.{kind} %d, %a, %b;", a.dtype, a=a, b=b) == expect(TWO[name], kind, a, b)).all()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", BITS)
@quick
@given(data=st.data())
def test_logic(name, width, data):
    a, b = data.draw(integers(f"u{width}")), data.draw(integers(f"u{width}"))
    assert (evaluate(f"{name}.b{width} %d, %a, %b;", a.dtype, a=a, b=b) == expect(BITS[name], f"u{width}", a, b)).all()


@pytest.mark.parametrize("kind", ["u16", "s16", "u32", "s32", "u64", "s64"])
@quick
@given(data=st.data())
def test_high_product(kind, data):
    a, b = data.draw(integers(kind)), data.draw(integers(kind))
    expected = expect(lambda a, b: a * b >> int(kind[1:]), kind, a, b)
    assert (evaluate(f"mul.hi.{kind} %d, %a, %b;", a.dtype, a=a, b=b) == expected).all()


@pytest.mark.parametrize("kind", ["u16", "s16", "u32", "s32"])
@quick
@given(data=st.data())
def test_wide_products(kind, data):
    wide = f"{kind[0]}{2 * int(kind[1:])}"
    a, b, c = data.draw(integers(kind)), data.draw(integers(kind)), data.draw(integers(wide))
    product = evaluate(f"mul.wide.{kind} %d, %a, %b;", c.dtype, a=a, b=b)
    total = evaluate(f"mad.wide.{kind} %d, %a, %b, %c;", c.dtype, a=a, b=b, c=c)
    assert (product == expect(lambda a, b: a * b, wide, a, b)).all()
    assert (total == expect(lambda a, b, c: a * b + c, wide, a, b, c)).all()


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
@quick
@given(data=st.data())
def test_multiply_add(kind, data):
    a, b, c = (data.draw(integers(kind)) for _ in range(3))
    low = evaluate(f"mad.lo.{kind} %d, %a, %b, %c;", a.dtype, a=a, b=b, c=c)
    high = evaluate(f"mad.hi.{kind} %d, %a, %b, %c;", a.dtype, a=a, b=b, c=c)
    assert (low == expect(lambda a, b, c: a * b + c, kind, a, b, c)).all()
    assert (high == expect(lambda a, b, c: (a * b >> int(kind[1:])) + c, kind, a, b, c)).all()


@pytest.mark.parametrize("kind", ["u16", "s16", "u32", "s32", "u64", "s64"])
@quick
@given(data=st.data())
def test_division_is_towards_zero(kind, data):
    a, b = data.draw(integers(kind)), data.draw(integers(kind))
    b = np.where(b == 0, b.dtype.type(7), b)
    quotient, remainder = (
        evaluate(f"{name}.{kind} %d, %a, %b;", a.dtype, a=a, b=b) for name in ("div", "rem")
    )  # fmt: skip
    assert (quotient == expect(towards_zero, kind, a, b)).all()
    assert (remainder == expect(lambda a, b: a - towards_zero(a, b) * b, kind, a, b)).all()


@pytest.mark.parametrize("kind", ["s16", "s32", "s64"])
@quick
@given(data=st.data())
def test_sign(kind, data):
    a = data.draw(integers(kind))
    assert (evaluate(f"neg.{kind} %d, %a;", a.dtype, a=a) == expect(lambda a: -a, kind, a)).all()
    assert (evaluate(f"abs.{kind} %d, %a;", a.dtype, a=a) == expect(abs, kind, a)).all()


@pytest.mark.parametrize("kind", ["b16", "b32", "b64", "u32", "u64", "s32", "s64", "s16"])
@quick
@given(data=st.data())
def test_shifts_clamp(kind, data):
    own = kind.replace("b", "u")
    a = data.draw(integers(own))
    amount = amounts(data.draw(SEEDS))
    right = evaluate(f"shr.{kind} %d, %a, %b;", a.dtype, a=a, b=amount)
    assert (right == expect(lambda a, n: a >> n, own, a, amount)).all()
    if kind[0] == "b":
        left = evaluate(f"shl.{kind} %d, %a, %b;", a.dtype, a=a, b=amount)
        assert (left == expect(lambda a, n: a << n, own, a, amount)).all()
        by_three = evaluate(f"shl.{kind} %d, %a, 3;", a.dtype, a=a)
        assert (by_three == expect(lambda a: a << 3, own, a)).all()


@quick
@given(data=st.data())
def test_funnel_shift(data):
    low, high = data.draw(integers("u32")), data.draw(integers("u32"))
    amount = np.arange(LANES, dtype=np.uint32)
    for name, count in (("wrap", lambda n: n & 31), ("clamp", lambda n: min(n, 32))):
        left = evaluate(f"shf.l.{name}.b32 %d, %a, %b, %c;", np.uint32, a=low, b=high, c=amount)
        right = evaluate(f"shf.r.{name}.b32 %d, %a, %b, %c;", np.uint32, a=low, b=high, c=amount)
        both = [a | b << 32 for a, b in zip(low.tolist(), high.tolist())]
        assert left.tolist() == [(x << count(n) >> 32) & 0xFFFFFFFF for x, n in zip(both, range(LANES))]
        assert right.tolist() == [(x >> count(n)) & 0xFFFFFFFF for x, n in zip(both, range(LANES))]


@pytest.mark.parametrize("width", [32, 64])
@quick
@given(data=st.data())
def test_counting_bits(width, data):
    a = data.draw(integers(f"u{width}"))
    texts = [f"{value:0{width}b}" for value in a.tolist()]
    assert evaluate(f"popc.b{width} %d, %a;", np.uint32, a=a).tolist() == [text.count("1") for text in texts]
    zeros = [len(text) - len(text.lstrip("0")) for text in texts]
    assert evaluate(f"clz.b{width} %d, %a;", np.uint32, a=a).tolist() == zeros
    assert evaluate(f"brev.b{width} %d, %a;", a.dtype, a=a).tolist() == [int(text[::-1], 2) for text in texts]
    highest = [width - 1 - count if count < width else 0xFFFFFFFF for count in zeros]
    assert evaluate(f"bfind.u{width} %d, %a;", np.uint32, a=a).tolist() == highest


def extract(a: int, position: int, length: int, kind: str) -> int:
    """The pseudo-code of "bfe"."""
    width = int(kind[1:])
    top = width - 1
    bits = a % (1 << width)
    sign = 0 if kind[0] == "u" or length == 0 else (bits >> min(position + length - 1, top)) & 1
    result = 0
    for i in range(width):
        bit = (bits >> (position + i)) & 1 if i < length and position + i <= top else sign
        result |= bit << i
    return wrap(result, kind)


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
@quick
@given(data=st.data())
def test_bit_field_extract(kind, data):
    a = data.draw(integers(kind))
    position, length = (amounts(data.draw(SEEDS)) for _ in range(2))
    got = evaluate(f"bfe.{kind} %d, %a, %b, %c;", a.dtype, a=a, b=position, c=length)
    expected = [extract(*row, kind) for row in zip(a.tolist(), position.tolist(), length.tolist())]
    assert got.tolist() == expected


@pytest.mark.parametrize("width", [32, 64])
@quick
@given(data=st.data())
def test_bit_field_insert(width, data):
    a, b = data.draw(integers(f"u{width}")), data.draw(integers(f"u{width}"))
    position, length = (amounts(data.draw(SEEDS)) for _ in range(2))
    got = evaluate(f"bfi.b{width} %d, %a, %b, %c, %x;", a.dtype, a=a, b=b, c=position, x=length)
    for value, a_, b_, p, n in zip(*(each.tolist() for each in (got, a, b, position, length))):
        mask = ((1 << n) - 1) << p & ((1 << width) - 1)
        assert value == (b_ & ~mask) | (a_ << p & mask)


@quick
@given(data=st.data(), table=st.integers(0, 255))
def test_lop3(data, table):
    a, b, c = (data.draw(integers("u32")) for _ in range(3))
    got = evaluate(f"lop3.b32 %d, %a, %b, %c, {table};", np.uint32, a=a, b=b, c=c)
    for value, a_, b_, c_ in zip(*(each.tolist() for each in (got, a, b, c))):
        rows = [(a_ >> i & 1) << 2 | (b_ >> i & 1) << 1 | (c_ >> i & 1) for i in range(32)]
        assert value == sum((table >> row & 1) << i for i, row in enumerate(rows))


@quick
@given(data=st.data())
def test_permute_bytes(data):
    a, b, selector = (data.draw(integers("u32")) for _ in range(3))
    got = evaluate("prmt.b32 %d, %a, %b, %c;", np.uint32, a=a, b=b, c=selector)
    for value, a_, b_, s in zip(*(each.tolist() for each in (got, a, b, selector))):
        source = a_.to_bytes(4, "little") + b_.to_bytes(4, "little")
        picked = [source[s >> 4 * i & 7] for i in range(4)]
        expected = [(0xFF if byte & 0x80 else 0) if s >> 4 * i & 8 else byte for i, byte in enumerate(picked)]
        assert value.to_bytes(4, "little") == bytes(expected)


@quick
@given(data=st.data())
def test_carries_add_and_subtract_128_bits(data):
    parts = {name: data.draw(integers("u32")) for name in ("a", "b", "c", "x")}
    statement = (
        "add.cc.u32 %d, %a, %c; addc.cc.u32 %e, %b, %x; addc.u32 %f, 0, 0;"
        "sub.cc.u32 %g, %a, %c; subc.cc.u32 %h, %b, %x; subc.u32 %i, 0, 0;"
    )
    got = [each.tolist() for each in evaluate(statement, [np.uint32] * 6, **parts)]
    first, second = (
        [low | high << 32 for low, high in zip(parts[a].tolist(), parts[b].tolist())] for a, b in ("ab", "cx")
    )
    for d, e, f, g, h, i, one, two in zip(*got, first, second):
        assert d | e << 32 | f << 64 == one + two
        assert g | h << 32 | i << 64 == (one - two) % (1 << 96)


@quick
@given(data=st.data())
def test_carries_multiply_64_by_64(data):
    """The sequence that libdevice's trigonometric reduction uses."""
    a, b, c = (data.draw(integers("u64")) for _ in range(3))
    statement = """
    {
    .reg .u32 r0, r1, r2, r3, alo, ahi, blo, bhi, clo, chi;
    mov.b64 {alo,ahi}, %a; mov.b64 {blo,bhi}, %b; mov.b64 {clo,chi}, %c;
    mad.lo.cc.u32 r0, alo, blo, clo; madc.hi.cc.u32 r1, alo, blo, chi; madc.hi.u32 r2, alo, bhi, 0;
    mad.lo.cc.u32 r1, alo, bhi, r1; madc.hi.cc.u32 r2, ahi, blo, r2; madc.hi.u32 r3, ahi, bhi, 0;
    mad.lo.cc.u32 r1, ahi, blo, r1; madc.lo.cc.u32 r2, ahi, bhi, r2; addc.u32 r3, r3, 0;
    mov.b64 %d, {r0,r1}; mov.b64 %e, {r2,r3};
    }"""
    low, high = evaluate(statement, [np.uint64] * 2, a=a, b=b, c=c)
    for d, e, a_, b_, c_ in zip(*(each.tolist() for each in (low, high, a, b, c))):
        assert d | e << 64 == a_ * b_ + c_


@quick
@given(data=st.data())
def test_saturating_sums(data):
    a, b = data.draw(integers("s32")), data.draw(integers("s32"))
    clamp = lambda value: max(-(2**31), min(2**31 - 1, value))  # noqa: E731
    total = evaluate("add.sat.s32 %d, %a, %b;", np.int32, a=a, b=b)
    difference = evaluate("sub.sat.s32 %d, %a, %b;", np.int32, a=a, b=b)
    assert total.tolist() == [clamp(x + y) for x, y in zip(a.tolist(), b.tolist())]
    assert difference.tolist() == [clamp(x - y) for x, y in zip(a.tolist(), b.tolist())]
