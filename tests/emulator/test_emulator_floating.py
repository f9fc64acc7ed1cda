"""Floating-point instructions against exact fractions, rounded by an oracle of its own."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ptx_harness import SEEDS, evaluate, mixture

from playground.emulator import UnknownInstruction

quick = settings(max_examples=8, derandomize=True, deadline=None)

FORMATS = {
    "f16": (np.float16, np.uint16, 11, -14, 15),
    "bf16": (None, np.uint16, 8, -126, 127),
    "f32": (np.float32, np.float32, 24, -126, 127),
    "f64": (np.float64, np.float64, 53, -1022, 1023),
}


def rounded(exact: Fraction, kind: str, mode: str = "rn"):
    """A non-zero fraction in a binary format, as a fraction or infinity: IEEE 754 section 4.3, by integers."""
    _, _, precision, low, high = FORMATS[kind]
    size = abs(exact)
    exponent = max(size.numerator.bit_length() - size.denominator.bit_length() - 1, low - 1)
    while Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    unit = Fraction(2) ** (max(exponent, low) - precision + 1)
    steps, rest = divmod(size, unit)
    up = {"rn": rest * 2 > unit or (rest * 2 == unit and steps % 2), "rz": False}.get(mode)
    if up is None:
        up = rest > 0 and (mode == "rp") == (exact > 0)
    result = (steps + bool(up)) * unit
    if result >= Fraction(2) ** (high + 1):
        stays_finite = mode == "rz" or (mode == "rm" and exact > 0) or (mode == "rp" and exact < 0)
        largest = (2 - Fraction(2) ** (1 - precision)) * Fraction(2) ** high
        return (largest if stays_finite else math.inf) * (1 if exact > 0 else -1)
    return result if exact > 0 else -result


def floats(kind: str, spread: int):
    """A strategy for arrays of finite floats with exponents up to ±spread, and edges: subnormals, halves, near ties."""
    dtype = FORMATS[kind][0]
    info = np.finfo(dtype)
    edges = [0.0, 1.0, -1.0, 1.5, 3.0, info.smallest_subnormal, -info.smallest_subnormal, info.tiny, 1 + info.eps]
    edges += [1 - info.epsneg, -(1 + info.eps), 2.0**-info.nmant, info.max / 2]

    def random(generator, n):
        return generator.uniform(-2, 2, n) * 2.0 ** generator.integers(-spread, spread, n)

    return SEEDS.map(lambda seed: mixture(seed, np.array(edges, dtype), random))


def check(got, kind: str, function, *arrays, mode="rn"):
    for value, *operands in zip(got.tolist(), *(array.tolist() for array in arrays)):
        exact = function(*map(Fraction, operands))
        if exact:
            expected = rounded(exact, kind, mode)
            assert value == expected, (operands, value, float(expected))


TWO = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b}


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("name", TWO)
@quick
@given(data=st.data())
def test_two_operands(name, kind, data):
    spread = 60 if kind == "f32" else 500
    a, b = data.draw(floats(kind, spread)), data.draw(floats(kind, spread))
    for modifier in ("", ".rn"):
        check(evaluate(f"{name}{modifier}.{kind} %d, %a, %b;", a.dtype, a=a, b=b), kind, TWO[name], a, b)


@pytest.mark.parametrize("mode", ["rz", "rm", "rp"])
@pytest.mark.parametrize("name", TWO)
@quick
@given(data=st.data())
def test_directed_rounding(name, mode, data):
    a, b = data.draw(floats("f32", 30)), data.draw(floats("f32", 30))
    check(evaluate(f"{name}.{mode}.f32 %d, %a, %b;", a.dtype, a=a, b=b), "f32", TWO[name], a, b, mode=mode)


def near_ties(kind: str):
    """Operands of a fused multiply-add whose sum lies a hair off halfway between floats: two roundings would err."""
    dtype = FORMATS[kind][0]
    bits = np.finfo(dtype).nmant + 1

    def operands(seed):
        generator = np.random.default_rng(seed)
        a = dtype(1) + generator.integers(1, 1 << (bits - 2), 64).astype(dtype) * np.finfo(dtype).eps
        shift = generator.integers(-3 * bits, 8, 64).astype(np.float64)
        c = (dtype(2.0) ** (shift + bits)).astype(dtype) * dtype(1 + np.finfo(dtype).eps)
        return a, generator.permutation(a), np.where(generator.random(64) < 0.5, c, -c).astype(dtype)

    return SEEDS.map(operands)


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@quick
@given(data=st.data())
def test_fused_multiply_add_rounds_once(kind, mode, data):
    spread = 60 if kind == "f32" else 1000
    triples = [data.draw(near_ties(kind)), tuple(data.draw(floats(kind, spread)) for _ in range(3))]
    for a, b, c in triples:
        got = evaluate(f"fma.{mode}.{kind} %d, %a, %b, %c;", a.dtype, a=a, b=b, c=c)
        check(got, kind, lambda a, b, c: a * b + c, a, b, c, mode=mode)


def test_a_fused_multiply_add_that_double_arithmetic_gets_wrong():
    """2^60 + (halfway between floats) + a speck: the double sum loses the speck and the tie goes to even, wrongly."""
    a = np.array([1 + 2.0**-12], np.float32)
    b = np.array([1 + 2.0**-12], np.float32)
    c = np.array([2.0**-60], np.float32)
    naive = np.float32(np.float64(a[0]) * np.float64(b[0]) + np.float64(c[0]))
    got = evaluate("fma.rn.f32 %d, %a, %b, %c;", np.float32, a=a, b=b, c=c)[0]
    assert Fraction(float(got)) == rounded(Fraction(float(a[0])) ** 2 + Fraction(float(c[0])), "f32")
    assert got != naive


@pytest.mark.parametrize("kind", ["f32", "f64"])
@quick
@given(data=st.data())
def test_division_and_reciprocal(kind, data):
    a, b = data.draw(floats(kind, 40)), data.draw(floats(kind, 40))
    b = np.where(b == 0, b.dtype.type(3), b)
    check(evaluate(f"div.rn.{kind} %d, %a, %b;", a.dtype, a=a, b=b), kind, lambda a, b: a / b, a, b)
    check(evaluate(f"rcp.rn.{kind} %d, %a;", b.dtype, a=b), kind, lambda b: 1 / b, b)
    if kind == "f32":
        for mode in ("rz", "rm", "rp"):
            got = evaluate(f"div.{mode}.f32 %d, %a, %b;", a.dtype, a=a, b=b)
            check(got, kind, lambda a, b: a / b, a, b, mode=mode)
        for variant in ("div.full.f32", "div.approx.f32", "div.approx.ftz.f32"):
            # The ISA allows 2 ulp and leaves |b| > 2^126 open.
            got = evaluate(f"{variant} %d, %a, %b;", a.dtype, a=a, b=b)
            usual = (np.abs(b) < 2.0**60) & (np.abs(a) < 2.0**60) & (np.abs(a) > 2.0**-60) & (np.abs(b) > 2.0**-60)
            np.testing.assert_allclose(got[usual], a[usual] / b[usual], rtol=2.0**-22)


@pytest.mark.parametrize("kind", ["f32", "f64"])
@quick
@given(data=st.data())
def test_square_root(kind, data):
    a = np.abs(data.draw(floats(kind, 40)))
    got = evaluate(f"sqrt.rn.{kind} %d, %a;", a.dtype, a=a)
    for value, operand in zip(got.tolist(), a.tolist()):
        ulp = Fraction(float(np.spacing(FORMATS[kind][0](value)))) / 2
        assert max(Fraction(value) - ulp, 0) ** 2 <= Fraction(operand) <= (Fraction(value) + ulp) ** 2


APPROXIMATIONS = {
    "ex2.approx.ftz": (np.exp2, 2e-7),
    "lg2.approx": (np.log2, 2e-7),
    "rcp.approx.ftz": (lambda x: 1 / x, 2e-7),
    "rsqrt.approx": (lambda x: 1 / np.sqrt(x), 2e-7),
    "sqrt.approx.ftz": (np.sqrt, 2e-7),
    "sin.approx": (np.sin, 1e-6),
    "cos.approx.ftz": (np.cos, 1e-6),
    "tanh.approx": (np.tanh, 1e-3),
}


@pytest.mark.parametrize("name", APPROXIMATIONS)
def test_approximations_are_within_what_the_isa_allows(name):
    function, tolerance = APPROXIMATIONS[name]
    a = np.random.default_rng(0).uniform(0.01, 3.1, 500).astype(np.float32)
    got = evaluate(f"{name}.f32 %d, %a;", np.float32, a=a)
    np.testing.assert_allclose(got, function(a.astype(np.float64)), rtol=tolerance, atol=1e-6)


def test_special_values_of_the_approximations():
    a = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-40], np.float32)
    assert evaluate("ex2.approx.ftz.f32 %d, %a;", np.float32, a=a)[[0, 1, 2, 3, 5]].tolist() == [1, 1, math.inf, 0, 1]
    assert evaluate("rcp.approx.ftz.f32 %d, %a;", np.float32, a=a)[[0, 1, 2, 3, 5]].tolist() == [
        math.inf, -math.inf, 0, 0, math.inf,
    ]  # fmt: skip
    assert evaluate("lg2.approx.ftz.f32 %d, %a;", np.float32, a=a)[[0, 2, 5]].tolist() == [
        -math.inf,
        math.inf,
        -math.inf,
    ]


def test_flushing_to_zero_keeps_the_sign():
    tiny = np.float32(2.0**-127)
    a = np.array([tiny, -tiny, 1.0, 2.0**-126, 2.0**-126], np.float32)
    b = np.array([0.0, -0.0, tiny, -(2.0**-127), 0.5], np.float32)
    plain, flushed = evaluate("add.f32 %d, %a, %b; add.ftz.f32 %e, %a, %b;", [np.float32] * 2, a=a, b=b)
    assert plain.tolist()[:2] == [tiny, -tiny]
    assert np.signbit(flushed[:2]).tolist() == [False, True] and flushed[:2].tolist() == [0, 0]
    assert flushed[3] == np.float32(2.0**-126)
    assert evaluate("mul.ftz.f32 %d, %a, %b;", np.float32, a=a, b=b)[4] == 0


def test_minimum_and_maximum_order_zeros_and_skip_nan():
    a = np.array([0.0, -0.0, np.nan, 2.0, -1.0], np.float32)
    b = np.array([-0.0, 0.0, 5.0, np.nan, 3.0], np.float32)
    low, high = evaluate("min.f32 %d, %a, %b; max.f32 %e, %a, %b;", [np.float32] * 2, a=a, b=b)
    assert np.signbit(low[:2]).all() and not np.signbit(high[:2]).any()
    assert low[2:].tolist() == [5, 2, -1] and high[2:].tolist() == [5, 2, 3]
    assert np.isnan(evaluate("max.NaN.f32 %d, %a, %b;", np.float32, a=a, b=b)[2:4]).all()


def test_sign_copy_and_saturation():
    a = np.array([1.5, -0.5, 0.25, np.nan, -3.0], np.float32)
    b = np.array([-1.0, 2.0, 0.0, 1.0, -0.0], np.float32)
    assert evaluate("neg.f32 %d, %a;", np.float32, a=a)[:3].tolist() == [-1.5, 0.5, -0.25]
    assert evaluate("abs.f32 %d, %a;", np.float32, a=a)[[0, 1, 4]].tolist() == [1.5, 0.5, 3]
    assert evaluate("copysign.f32 %d, %b, %a;", np.float32, a=a, b=b)[:3].tolist() == [-1.5, 0.5, 0.25]
    zero = np.zeros(5, np.float32)
    assert evaluate("add.sat.f32 %d, %a, %b;", np.float32, a=a, b=zero).tolist() == [1, 0, 0.25, 0, 0]


def halves(kind: str):
    """A strategy for arrays of 16-bit patterns of finite floats."""
    largest = 0x7BFF if kind == "f16" else 0x7F7F
    edges = np.array([0, 1, 0x8001, 0x3C00 if kind == "f16" else 0x3F80, 0x03FF, largest, largest | 0x8000], np.uint16)

    def random(generator, n):
        return generator.integers(0, largest, n) | generator.integers(0, 2, n) << 15

    return SEEDS.map(lambda seed: mixture(seed, edges, random))


def as_fractions(bits, kind: str) -> list[Fraction]:
    wide = bits.view(np.float16) if kind == "f16" else (bits.astype(np.uint32) << 16).view(np.float32)
    return [Fraction(float(value)) for value in wide]


HALF = {**TWO, "fma.rn": lambda a, b, c: a * b + c}


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("name", HALF)
@quick
@given(data=st.data())
def test_half_arithmetic_rounds_once(name, kind, data):
    operands = [data.draw(halves(kind)) for _ in range(3 if "fma" in name else 2)]
    names = dict(zip("abc", operands))
    listed = ", ".join(f"%{each}" for each in names)
    modifier = ".rn" if kind == "bf16" and "fma" not in name else ""
    got = evaluate(f"{name}{modifier}.{kind} %d, {listed};", np.uint16, **names)
    values = as_fractions(np.where((got & 0x7FFF) < (0x7C00 if kind == "f16" else 0x7F80), got, 0), kind)
    infinite = (got & 0x7FFF) >= (0x7C00 if kind == "f16" else 0x7F80)
    for value, overflowed, *row in zip(values, infinite, *(as_fractions(each, kind) for each in operands)):
        exact = HALF[name](*row)
        expected = rounded(exact, kind) if exact else 0
        assert (abs(expected) == math.inf) == overflowed and (overflowed or value == expected)


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@quick
@given(data=st.data())
def test_packed_halves_are_two_halves(kind, data):
    low, high, other = (data.draw(halves(kind)) for _ in range(3))
    pair, twin = (low | high.astype(np.uint32) << 16), (other | low.astype(np.uint32) << 16)
    packed = evaluate(f"fma.rn.{kind}x2 %d, %a, %b, %a;", np.uint32, a=pair, b=twin)
    single = [evaluate(f"fma.rn.{kind} %d, %a, %b, %a;", np.uint16, a=a, b=b) for a, b in ((low, other), (high, low))]
    assert (packed == single[0] | single[1].astype(np.uint32) << 16).all()


@pytest.mark.parametrize(
    "statement", ["add.rz.f64 %d, %a, %a;", "sqrt.rm.f64 %d, %a;", "ex2.f32 %d, %a;", "add.xyz.f32 %d, %a, %a;"]
)
def test_what_is_not_known_is_refused(statement):
    a = np.ones(32, np.float64 if "f64" in statement else np.float32)
    with pytest.raises(UnknownInstruction, match=statement.split()[0].replace(".", r"\.")):
        evaluate(statement, a.dtype, a=a)
