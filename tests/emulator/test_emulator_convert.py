"""cvt against exact arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ptx_harness import SEEDS, evaluate, integers, mixture
from test_emulator_floating import as_fractions, check, floats, halves, rounded

quick = settings(max_examples=8, derandomize=True, deadline=None)
INTEGERS = ["s16", "u16", "s32", "u32", "s64", "u64"]


def limits(kind: str):
    width = int(kind[1:])
    return (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if kind[0] == "s" else (0, 2**width - 1)


@pytest.mark.parametrize("target", [*INTEGERS, "u8", "s8"])
@pytest.mark.parametrize("source", INTEGERS)
@quick
@given(data=st.data())
def test_integers_wrap_or_saturate(source, target, data):
    a = data.draw(integers(source))
    dtype = np.dtype(f"{'i' if target[0] == 's' else 'u'}{max(int(target[1:]) // 8, 2)}")
    low, high = limits(target)
    wrapped = evaluate(f"cvt.{target}.{source} %d, %a;", dtype, a=a)
    assert wrapped.tolist() == [(value - low) % (high - low + 1) + low for value in a.tolist()]
    clamped = evaluate(f"cvt.sat.{target}.{source} %d, %a;", dtype, a=a)
    assert clamped.tolist() == [min(max(value, low), high) for value in a.tolist()]


@pytest.mark.parametrize("target", ["f32", "f64"])
@pytest.mark.parametrize("source", INTEGERS)
@quick
@given(data=st.data())
def test_integers_to_floats(source, target, data):
    a = data.draw(integers(source))
    dtype = np.float32 if target == "f32" else np.float64
    for mode in ("rn", "rz", "rm", "rp") if target == "f32" else ("rn",):
        check(evaluate(f"cvt.{mode}.{target}.{source} %d, %a;", dtype, a=a), target, lambda a: a, a, mode=mode)


ROUND = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}


@pytest.mark.parametrize("mode", ROUND)
@pytest.mark.parametrize("source", ["f32", "f64"])
@quick
@given(data=st.data())
def test_floats_to_integers_saturate(source, mode, data):
    a = data.draw(floats(source, 70))
    for target in INTEGERS:
        low, high = limits(target)
        dtype = np.dtype(f"{'i' if target[0] == 's' else 'u'}{int(target[1:]) // 8}")
        got = evaluate(f"cvt.{mode}.{target}.{source} %d, %a;", dtype, a=a)
        assert got.tolist() == [min(max(ROUND[mode](Fraction(value)), low), high) for value in a.tolist()]


def test_not_a_number_to_integers():
    a = np.array([np.nan, np.inf, -np.inf, 3.7], np.float32)
    assert evaluate("cvt.rzi.s32.f32 %d, %a;", np.int32, a=a).tolist() == [0, 2**31 - 1, -(2**31), 3]
    assert evaluate("cvt.rzi.u32.f32 %d, %a;", np.uint32, a=a).tolist() == [0, 2**32 - 1, 0, 3]
    assert evaluate("cvt.rzi.s64.f32 %d, %a;", np.int64, a=a).tolist() == [-(2**63), 2**63 - 1, -(2**63), 3]
    assert evaluate("cvt.rzi.u64.f32 %d, %a;", np.uint64, a=a)[0] == 2**63
    wide = a.astype(np.float64)
    assert evaluate("cvt.rzi.s32.f64 %d, %a;", np.int32, a=wide)[0] == -(2**31)


@pytest.mark.parametrize("mode", ROUND)
@quick
@given(data=st.data())
def test_rounding_to_integral_floats(mode, data):
    for kind in ("f32", "f64"):
        a = data.draw(floats(kind, 20))
        got = evaluate(f"cvt.{mode}.{kind}.{kind} %d, %a;", a.dtype, a=a)
        assert got.tolist() == [float(ROUND[mode](Fraction(value))) for value in a.tolist()]


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@quick
@given(data=st.data())
def test_narrowing(mode, data):
    a = data.draw(floats("f64", 140))
    with np.errstate(over="ignore"):
        check(evaluate(f"cvt.{mode}.f32.f64 %d, %a;", np.float32, a=a), "f32", lambda a: a, a, mode=mode)
    b = data.draw(floats("f32", 20))
    got = evaluate(f"cvt.{mode}.f16.f32 %d, %a;", np.uint16, a=b)
    check(got.view(np.float16).astype(np.float64), "f16", lambda b: b, b, mode=mode)


@pytest.mark.parametrize("mode", ["rn", "rz"])
@quick
@given(data=st.data())
def test_bfloat16(mode, data):
    a = data.draw(floats("f32", 100))
    got = evaluate(f"cvt.{mode}.bf16.f32 %d, %a;", np.uint16, a=a)
    check((got.astype(np.uint32) << 16).view(np.float32).astype(np.float64), "bf16", lambda a: a, a, mode=mode)


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@quick
@given(data=st.data())
def test_widening_is_exact(kind, data):
    bits = data.draw(halves(kind))
    got = evaluate(f"cvt.f32.{kind} %d, %a;", np.float32, a=bits)
    assert [Fraction(float(value)) for value in got] == as_fractions(bits, kind)


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@quick
@given(data=st.data())
def test_pairs_put_the_first_operand_in_the_upper_half(kind, data):
    high, low = data.draw(floats("f32", 12)), data.draw(floats("f32", 12))
    pair = evaluate(f"cvt.rn.{kind}x2.f32 %d, %a, %b;", np.uint32, a=high, b=low)
    single = [evaluate(f"cvt.rn.{kind}.f32 %d, %a;", np.uint16, a=each).astype(np.uint32) for each in (low, high)]
    assert (pair == single[0] | single[1] << 16).all()


def test_half_not_a_number_is_canonical():
    a = np.array([np.nan, -np.nan], np.float32)
    assert evaluate("cvt.rn.f16.f32 %d, %a;", np.uint16, a=a).tolist() == [0x7FFF] * 2
    assert evaluate("cvt.rn.f16x2.f32 %d, %a, %a;", np.uint32, a=a).tolist() == [0x7FFF7FFF] * 2


@quick
@given(seed=SEEDS)
def test_saturation_and_flush(seed):
    edges = np.array([0, -0.0, 1, 0.5, -3, 7, np.nan, np.inf, 2.0**-140], np.float32)
    a = mixture(seed, edges, lambda generator, n: generator.uniform(-2, 2, n))
    got = evaluate("cvt.sat.f32.f32 %d, %a;", np.float32, a=a)
    expected = [0 if math.isnan(value) else min(max(value, 0), 1) for value in a.tolist()]
    assert got.tolist() == expected
    flushed = evaluate("cvt.ftz.f32.f32 %d, %a;", np.float32, a=a)
    assert (flushed[np.abs(a) == np.float32(2.0**-140)] == 0).all()


def test_rounding_oracle_itself():
    assert rounded(Fraction(1, 3), "f32") == Fraction(float(np.float32(1 / 3)))
    assert rounded(Fraction(65520), "f16") == math.inf and rounded(Fraction(65519), "f16") == 65504
