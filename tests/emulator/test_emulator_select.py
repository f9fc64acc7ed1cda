"""Moves, comparisons, selections and predicates."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ptx_harness import evaluate, integers

quick = settings(max_examples=5, derandomize=True, deadline=None)
COMPARE = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


@pytest.mark.parametrize("kind", ["u16", "s16", "u32", "s32", "u64", "s64"])
@pytest.mark.parametrize("name", COMPARE)
@quick
@given(data=st.data())
def test_integer_comparisons(name, kind, data):
    a, b = data.draw(integers(kind)), data.draw(integers(kind))
    got = evaluate(f"setp.{name}.{kind} %d, %a, %b;", np.bool_, a=a, b=b)
    assert got.tolist() == [COMPARE[name](x, y) for x, y in zip(a.tolist(), b.tolist())]


@pytest.mark.parametrize("alias, name", [("lo", "lt"), ("ls", "le"), ("hi", "gt"), ("hs", "ge")])
def test_unsigned_aliases(alias, name):
    a, b = np.arange(32, dtype=np.uint32) - np.uint32(2), np.full(32, 4, np.uint32)
    got = evaluate(f"setp.{alias}.u32 %d, %a, %b; setp.{name}.u32 %e, %a, %b;", [np.bool_] * 2, a=a, b=b)
    assert (got[0] == got[1]).all()


@pytest.mark.parametrize("name", COMPARE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float_comparisons_with_not_a_number(name, dtype):
    values = [0.0, -0.0, 1.0, -2.0, math.inf, math.nan]
    a, b = (np.array(each, dtype) for each in zip(*[(x, y) for x in values for y in values]))
    kind = f"f{8 * dtype().itemsize}"
    ordered, unordered, number, nan = evaluate(
        f"setp.{name}.{kind} %d, %a, %b; setp.{name}u.{kind} %e, %a, %b;"
        f"setp.num.{kind} %f, %a, %b; setp.nan.{kind} %g, %a, %b;",
        [np.bool_] * 4,
        a=a,
        b=b,
    )
    for x, y, *got in zip(*(each.tolist() for each in (a, b, ordered, unordered, number, nan))):
        either = math.isnan(x) or math.isnan(y)
        assert got == [COMPARE[name](x, y) and not either, COMPARE[name](x, y) or either, not either, either]


@pytest.mark.parametrize("how", ["and", "or", "xor"])
def test_second_predicate_and_combination(how):
    a = np.arange(32, dtype=np.int32)
    c = a % 3 == 0
    combine = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}[how]
    p, q = evaluate(f"setp.lt.{how}.s32 %d|%e, %a, 10, %c;", [np.bool_] * 2, a=a, c=c)
    assert (p == combine(a < 10, c)).all() and (q == combine(a >= 10, c)).all()
    inverted = evaluate(f"setp.lt.{how}.s32 %d, %a, 10, !%c;", np.bool_, a=a, c=c)
    assert (inverted == combine(a < 10, ~c)).all()


def test_predicate_logic():
    a, b = np.arange(32) % 2 == 0, np.arange(32) % 3 == 0
    got = evaluate(
        "and.pred %d, %a, %b; or.pred %e, %a, %b; xor.pred %f, %a, %b; not.pred %g, %a;", [np.bool_] * 4, a=a, b=b
    )
    for result, expected in zip(got, (a & b, a | b, a ^ b, ~a)):
        assert (result == expected).all()


def test_selections_and_set():
    a, b = np.arange(32, dtype=np.int32), np.arange(32, dtype=np.int32) * -7
    odd = a % 2 == 1
    assert (evaluate("selp.b32 %d, %a, %b, %c;", np.int32, a=a, b=b, c=odd) == np.where(odd, a, b)).all()
    sign = np.where(odd, -1, 1).astype(np.int32)
    assert (evaluate("slct.s32.s32 %d, %a, %b, %c;", np.int32, a=a, b=b, c=sign) == np.where(odd, b, a)).all()
    assert (evaluate("set.lt.u32.s32 %d, %a, 5;", np.uint32, a=a) == np.where(a < 5, 0xFFFFFFFF, 0)).all()
    assert (evaluate("set.ge.f32.s32 %d, %a, 5;", np.float32, a=a) == (a >= 5)).all()


def test_moves_pack_and_unpack():
    a = np.arange(32, dtype=np.uint64) * np.uint64(0x0123456789ABCDEF)
    statement = """
    .reg .b32 %low, %high; .reg .b16 %h0, %h1, %h2, %h3;
    mov.b64 {%low, %high}, %a; mov.b64 {%h0, %h1, %h2, %h3}, %a;
    mov.b64 %d, {%high, %low}; mov.b32 %e, {%h2, %h1};"""
    swapped, halves = evaluate(statement, [np.uint64, np.uint32], a=a)
    low, high = a & np.uint64(0xFFFFFFFF), a >> np.uint64(32)
    assert (swapped == high | low << np.uint64(32)).all()
    assert (
        halves == (a >> np.uint64(32) & np.uint64(0xFFFF)) | (a >> np.uint64(16) & np.uint64(0xFFFF)) << np.uint64(16)
    ).all()


def test_bits_move_between_integer_and_float_registers():
    a = np.array([1.5, -0.0, np.inf], np.float32)
    assert (evaluate("mov.b32 %d, %a;", np.uint32, a=a) == a.view(np.uint32)).all()
    assert (evaluate("mov.b32 %d, %a;", np.float32, a=a.view(np.uint32)) == a).all()


def test_literals():
    a = np.zeros(1, np.uint32)
    statement = "mov.f32 %d, 0f3FC00000; mov.f64 %e, 0dC000000000000000; mov.u32 %f, 0xFFFFFFFF; mov.s32 %g, -5;"
    got = evaluate(statement, [np.float32, np.float64, np.uint32, np.int32], a=a)
    assert [each[0] for each in got] == [1.5, -2.0, 0xFFFFFFFF, -5]


@pytest.mark.parametrize("negated", ["", "!"])
def test_any_instruction_can_be_predicated(negated):
    a = np.arange(40, dtype=np.int32)
    chosen = (a % 5 < 2) != bool(negated)
    statement = f"mov.s32 %d, 7; @{negated}%c add.s32 %d, %a, 100;"
    assert (evaluate(statement, np.int32, a=a, c=a % 5 < 2) == np.where(chosen, a + 100, 7)).all()


def test_generic_windows_do_not_overlap():
    a = np.full(1, 64, np.uint64)
    statement = """
    .reg .b64 %s, %l; cvta.shared.u64 %s, %a; cvta.local.u64 %l, %a;
    isspacep.shared %d, %s; isspacep.local %e, %s; isspacep.local %f, %l; isspacep.global %g, %s;
    cvta.to.shared.u64 %h, %s;"""
    got = evaluate(statement, [np.bool_] * 4 + [np.uint64], a=a)
    assert [each[0] for each in got] == [True, False, True, False, 64]
