"""Reading PTX: scopes, operands, lines."""

import pytest

from playground.emulator.calls import flatten
from playground.emulator.errors import UnknownInstruction
from playground.emulator.instruction import (
    Address,
    Immediate,
    Negated,
    Pair,
    Register,
    SpecialRegister,
    Symbol,
    Vector,
)
from playground.emulator.parse import parse

TEXT = """
.version 8.0 /* a comment, with ; and { in it */
.target sm_90
.address_size 64
.extern .func (.param .b32 result) outside (.param .b64 given);
.visible .entry kernel(.param .u64 p0, .param .align 4 .b8 p1[12]) .maxntid 64, 2, 1
{
  .reg .b32 %r<3>; .reg .pred %p<2>;
  .loc 1 10 3
  { .reg .b32 inner; mov.b32 inner, %r1; mov.b32 %r2, inner; }  // and { another ; one
  { .reg .b32 inner; mov.b32 inner, 0x10; }
  .loc 2 99 1, function_name $L__info, inlined_at 1 11 5
  @!%p1 shfl.sync.up.b32 %r0|%p0, {%r1, %r2}, [%r2+-8], %tid.x;
  .loc 3 7 1, function_name $L__info, inlined_at 1 12 5
$L_end: setp.lt.and.s32 %p0, %r1, 5, !%p1;
  .loc 1 0 0
  ret;
}
.file 1 "kernel.py"
.file 2 "/env/numba_cuda/numba/cuda/intrinsics.py"
.file 3 "helper.py"
.section .debug_str { label: .b8 1; }
"""


def test_a_module():
    entry = parse(TEXT).entry()
    assert (entry.name, entry.limit) == ("kernel", 128)
    assert entry.parameters == [("p0", "u64"), ("p1", "b8[12]")]
    assert entry.labels == {"$L_end": 4}
    first, second, third, shuffle, compare, end = entry.instructions
    assert first.operands[0] == second.operands[1] != third.operands[0]
    assert third.operands[1] == Immediate("0x10")
    assert shuffle.predicate == Negated(Register("%p1"))
    assert shuffle.operands == (
        Pair((Register("%r0"), Register("%p0"))),
        Vector((Register("%r1"), Register("%r2"))),
        Address(Register("%r2"), -8),
        SpecialRegister("tid.x"),
    )
    assert compare.operands[3] == Negated(Register("%p1"))
    assert end.opcode == ("ret",)


def test_lines_are_those_of_users():
    """What Numba inlines shows the line it was called from; users' own helpers show theirs; line 0 says nothing new."""
    where = [instruction.where for instruction in parse(TEXT).entry().instructions]
    assert where == ["kernel.py:10"] * 3 + ["kernel.py:11", "helper.py:7", "helper.py:7"]


CALLS = """
.func (.param .b32 out) twice (.param .b32 in)
{ .reg .b32 %r<2>; ld.param.b32 %r0, [in]; add.u32 %r1, %r0, %r0; st.param.b32 [out], %r1; ret; }
.visible .entry kernel() {
  .reg .b32 %r<2>; mov.u32 %r0, 3;
  { .param .b32 a; st.param.b32 [a+0], %r0; .param .b32 b; call.uni (b), twice, (a); ld.param.b32 %r1, [b+0]; }
  { .param .b32 a; st.param.b32 [a+0], %r1; .param .b32 b; call.uni (b), twice, (a); ld.param.b32 %r1, [b+0]; }
  ret; }
"""


def test_calls_are_written_out():
    module = parse(CALLS)
    body = flatten(module, module.entry())
    assert [instruction.name for instruction in body.instructions].count("add") == 2
    assert not any(instruction.name == "call" for instruction in body.instructions)
    (one, two) = (instruction for instruction in body.instructions if instruction.name == "add")
    assert one.operands[0] != two.operands[0] and one.operands[0].name.startswith("%r1@")


def test_recursion_is_refused():
    module = parse(CALLS.replace("add.u32 %r1, %r0, %r0;", "call twice, (in);"))
    with pytest.raises(UnknownInstruction, match="call twice"):
        flatten(module, module.entry())


def test_symbols_keep_their_names():
    entry = parse(".entry k() { .reg .b64 %p; mov.u64 %p, table; bra out; out: ret; }").entry()
    assert entry.instructions[0].operands[1] == Symbol("table")
