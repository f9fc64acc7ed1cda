"""Loads, stores and atomics in every state space."""

import numpy as np
import pytest
from ptx_harness import kernel, kinds, run

from playground.emulator import hazards

LANE = """
.reg .b32 %t, %x<9>; .reg .b64 %p<9>, %o; .reg .f32 %f<9>; .reg .f64 %e<9>; .reg .b16 %h<9>; .reg .pred %q;
mov.u32 %t, %tid.x;
"""


def at(parameter: int, register: str, stride: int) -> str:
    return f"ld.param.u64 {register}, [p{parameter}]; mad.wide.u32 {register}, %t, {stride}, {register};"


@pytest.mark.parametrize(
    "modifiers", ["global", "global.nc", "volatile.global", "relaxed.gpu.global", "global.L2::128B", ""]
)
@pytest.mark.parametrize(
    "kind, count", [("u32", 1), ("f32", 1), ("f32", 2), ("f32", 4), ("u16", 4), ("f64", 2), ("u8", 4)]
)
def test_vector_loads_and_stores(modifiers, kind, count):
    size = int(kind[1:]) // 8 * count
    register = {"u32": "%x", "f32": "%f", "f64": "%e", "u16": "%h", "u8": "%h"}[kind]
    names = ", ".join(f"{register}{i}" for i in range(count))
    operand = f"{{{names}}}" if count > 1 else names
    vector = f".v{count}" if count > 1 else ""
    opcode = ".".join(["ld", *filter(None, [modifiers])]) + f"{vector}.{kind}"
    if "L2" in modifiers:
        opcode = f"ld.global.L2::128B{vector}.{kind}"
    body = f"""{LANE}{at(0, "%p0", size)}{at(1, "%p1", size)}
    {opcode} {operand}, [%p0]; st.global{vector}.{kind} [%p1], {operand};"""
    data = np.random.default_rng(0).integers(0, 255, 32 * size, np.uint8)
    report = run(kernel(["u64", "u64"], body), [data, np.zeros_like(data)])
    assert (report.outputs[1] == data).all() and report.clean
    assert report.counts.total()["global_store_bytes"] == 32 * size


def test_narrow_loads_extend_and_narrow_stores_truncate():
    body = f"""{LANE}{at(0, "%p0", 1)}{at(1, "%p1", 8)}{at(2, "%p2", 1)}
    ld.global.s8 %x0, [%p0]; ld.global.u8 %x1, [%p0]; st.global.v2.u32 [%p1], {{%x0, %x1}}; st.global.u8 [%p2], %x0;"""
    data = np.arange(112, 144, dtype=np.uint8)
    report = run(kernel(["u64"] * 3, body), [data, np.zeros((32, 2), np.int32), np.zeros_like(data)])
    assert (report.outputs[1][:, 0] == data.view(np.int8)).all() and (report.outputs[1][:, 1] == data).all()
    assert (report.outputs[2] == data).all()


@pytest.mark.parametrize("space", ["shared", "local"])
def test_generic_addresses_reach_shared_and_local_memory(space):
    declaration = ".shared .align 16 .b8 box[256];" if space == "shared" else ""
    local = ".local .align 16 .b8 box[256];" if space == "local" else ""
    body = f"""{local}{LANE}{at(0, "%p0", 4)}
    mov.u64 %p1, box; cvta.{space}.u64 %p1, %p1; mad.wide.u32 %p1, %t, 8, %p1;
    st.u32 [%p1+4], %t; ld.u32 %x0, [%p1+4]; add.u32 %x0, %x0, 1000; st.u32 [%p0], %x0;"""
    report = run(kernel(["u64"], body, declaration), [np.zeros(32, np.uint32)])
    assert report.clean and (report.outputs[0] == np.arange(32) + 1000).all()


def test_generic_access_to_different_spaces_at_once():
    body = f"""{LANE}{at(0, "%p0", 4)}{at(1, "%p1", 4)}
    mov.u64 %p2, box; mad.wide.u32 %p2, %t, 4, %p2; st.shared.u32 [%p2], %t; cvta.shared.u64 %p2, %p2;
    setp.lt.u32 %q, %t, 16; selp.b64 %p2, %p2, %p0, %q; ld.u32 %x0, [%p2]; st.global.u32 [%p1], %x0;"""
    ptx = kernel(["u64", "u64"], body, ".shared .align 4 .b8 box[128];")
    report = run(ptx, [np.arange(32, dtype=np.uint32) + 500, np.zeros(32, np.uint32)])
    assert report.clean and report.outputs[1].tolist() == [*range(16), *range(516, 532)]


def test_static_and_dynamic_shared_memory_and_constants():
    declarations = """.shared .align 4 .b8 first[8];
    .extern .shared .align 16 .b8 more[]; .extern .shared .align 16 .b8 alias[];
    .global .align 4 .b32 table[4] = {10, 20, 30, 0xFFFFFFFF}; .const .align 4 .f32 half = 0f3F000000;"""
    body = f"""{LANE}{at(0, "%p0", 4)}
    and.b32 %x1, %t, 3; mov.u64 %p1, table; mad.wide.u32 %p1, %x1, 4, %p1; ld.global.u32 %x2, [%p1];
    mov.u64 %p2, more; mad.wide.u32 %p2, %t, 4, %p2; st.shared.u32 [%p2], %x2;
    mov.u64 %p3, alias; mad.wide.u32 %p3, %t, 4, %p3; ld.shared.u32 %x3, [%p3];
    ld.const.f32 %f0, [half]; cvt.rzi.u32.f32 %x4, %f0; add.u32 %x3, %x3, %x4; st.global.u32 [%p0], %x3;
    mov.u32 %x5, more; mov.u32 %x6, %dynamic_smem_size; st.shared.v2.u32 [first], {{%x5, %x6}};"""
    report = run(kernel(["u64"], body, declarations), [np.zeros(32, np.uint32)], shared_bytes=128)
    assert report.clean and report.outputs[0].tolist() == [10, 20, 30, 0xFFFFFFFF] * 8


ATOMICS = {
    ("add", "u32"): sum, ("min", "s32"): min, ("max", "s32"): max, ("max", "u32"): max, ("add", "u64"): sum,
    ("add", "f32"): sum, ("add", "f64"): sum, ("min", "u64"): min, ("max", "s64"): max,
}  # fmt: skip


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("name, kind", ATOMICS)
def test_atomics_on_few_addresses(space, name, kind):
    dtype = np.dtype({"u": "u", "s": "i", "f": "f"}[kind[0]] + str(int(kind[1:]) // 8))
    register = {"f32": "%f", "f64": "%e"}.get(kind, "%p" if dtype.itemsize == 8 else "%x")
    value = f"{register}7"
    mnemonic = f"{name}.{kind}"
    size = dtype.itemsize
    initialise = finish = ""
    if space == "shared":
        bits = f"b{8 * size}"
        initialise = f"""setp.lt.u32 %q, %t, 3; mad.wide.u32 %o, %t, {size}, %p0; mov.u64 %p5, box;
        mad.wide.u32 %p5, %t, {size}, %p5; @%q ld.global.{bits} {value}, [%o];
        @%q st.shared.{bits} [%p5], {value}; bar.sync 0;"""
        finish = f"bar.sync 0; @%q ld.shared.{bits} {value}, [%p5]; @%q st.global.{bits} [%o], {value};"
    body = f"""{LANE} ld.param.u64 %p0, [p0]; {at(1, "%p1", size)}
    {initialise}
    rem.u32 %x1, %t, 3; {"mov.u64 %p3, box;" if space == "shared" else "mov.u64 %p3, %p0;"}
    mad.wide.u32 %p3, %x1, {size}, %p3;
    ld.global.b{8 * size} {value}, [%p1]; atom.{space}.{mnemonic} {register}8, [%p3], {value};
    red.{space}.{mnemonic} [%p3], {value};
    {finish}"""
    generator = np.random.default_rng(3)
    low = 0 if kind[0] == "u" else -50
    data, start = generator.integers(low, 50, 64).astype(dtype), np.array([1, 2, 3], dtype)
    ptx = kernel(["u64", "u64"], body, ".shared .align 8 .b8 box[24];")
    report = run(ptx, [start.copy(), data], block=64)
    operation = ATOMICS[name, kind]
    for place in range(3):
        own = data[place::3].tolist()
        assert report.outputs[0][place] == operation([start[place].item(), *own, *own])
    assert report.clean, report.hazards


def test_atomics_return_what_they_found_in_lane_order():
    body = f"""{LANE} ld.param.u64 %p0, [p0]; {at(1, "%p1", 16)}
    atom.global.add.u32 %x0, [%p0], 2; atom.global.exch.b32 %x1, [%p0+4], %t; atom.global.inc.u32 %x2, [%p0+8], 4;
    atom.global.dec.u32 %x3, [%p0+12], 3; st.global.v4.u32 [%p1], {{%x0, %x1, %x2, %x3}};"""
    report = run(kernel(["u64", "u64"], body), [np.array([5, 99, 0, 0], np.uint32), np.zeros((32, 4), np.uint32)])
    added, exchanged, incremented, decremented = report.outputs[1].T.tolist()
    assert added == [5 + 2 * lane for lane in range(32)] and exchanged == [99, *range(31)]
    assert incremented == [lane % 5 for lane in range(32)] and decremented == [-lane % 4 for lane in range(32)]
    assert report.outputs[0].tolist() == [69, 31, 32 % 5, -32 % 4]


def test_compare_and_swap_elects_one_lane():
    body = f"""{LANE} ld.param.u64 %p0, [p0]; {at(1, "%p1", 4)} add.u32 %x1, %t, 100;
    atom.global.cas.b32 %x0, [%p0], 7, %x1; st.global.u32 [%p1], %x0;"""
    report = run(kernel(["u64", "u64"], body), [np.array([7], np.uint32), np.zeros(32, np.uint32)])
    assert report.outputs[0][0] == 100 and report.outputs[1].tolist() == [7] + [100] * 31


def test_bitwise_atomics():
    body = f"""{LANE} ld.param.u64 %p0, [p0]; shl.b32 %x1, 1, %t; not.b32 %x2, %x1;
    setp.lt.u32 %q, %t, 5; @%q atom.global.or.b32 %x0, [%p0], %x1; @%q atom.global.and.b32 %x0, [%p0+4], %x2;
    atom.global.xor.b32 %x0, [%p0+8], %x1;"""
    report = run(kernel(["u64"], body), [np.array([0, 0xFF, 1], np.uint32)])
    assert report.outputs[0].tolist() == [0b11111, 0b11100000, 0xFFFFFFFE]


def test_out_of_bounds_reads_give_zero_and_writes_nothing():
    body = f"""{LANE}{at(0, "%p0", 4)}{at(1, "%p1", 4)}
    ld.global.u32 %x0, [%p0]; add.u32 %x0, %x0, 1; st.global.u32 [%p1], %x0;"""
    report = run(kernel(["u64", "u64"], body), [np.arange(20, dtype=np.uint32), np.zeros(24, np.uint32)])
    assert report.outputs[1].tolist() == [*range(1, 21), 1, 1, 1, 1]
    load, store = report.hazards
    assert (load.kind, load.lanes, load.count) == (hazards.GLOBAL_BOUNDS, tuple(range(20, 32)), 12)
    assert (store.kind, store.lanes, store.count) == (hazards.GLOBAL_BOUNDS, tuple(range(24, 32)), 8)
    assert "byte 80 of array 0, which has 80" in load.detail and load.fix


@pytest.mark.parametrize(
    "space, kind",
    [("global", hazards.GLOBAL_ALIGNMENT), ("shared", hazards.SHARED_ALIGNMENT), ("local", hazards.LOCAL_ALIGNMENT)],
)
def test_misalignment(space, kind):
    base = "ld.param.u64 %p0, [p0];" if space == "global" else "mov.u64 %p0, box;"
    declare = {"global": "", "shared": ".shared .align 16 .b8 box[64];", "local": ""}[space]
    local = ".local .align 16 .b8 box[64];" if space == "local" else ""
    body = f"{local}{LANE}{base} setp.eq.u32 %q, %t, 3; @%q st.{space}.u32 [%p0+2], %t;"
    report = run(kernel(["u64"], body, declare), [np.zeros(64, np.uint8)])
    (hazard,) = report.hazards
    assert (hazard.kind, hazard.lanes) == (kind, (3,))


@pytest.mark.parametrize("space, kind", [("shared", hazards.SHARED_BOUNDS), ("local", hazards.LOCAL_BOUNDS)])
def test_bounds_of_shared_and_local_memory(space, kind):
    declare = ".shared .align 4 .b8 box[64];" if space == "shared" else ""
    local = ".local .align 4 .b8 box[64];" if space == "local" else ""
    body = f"{local}{LANE} mov.u64 %p0, box; mad.wide.u32 %p0, %t, 4, %p0; st.{space}.u32 [%p0], %t;"
    report = run(kernel(["u64"], body, declare), [np.zeros(1, np.uint8)])
    assert kinds(report) == {kind} and report.hazards[0].lanes == tuple(range(16, 32))


def test_a_device_function_with_parameters_and_a_result():
    function = """.func (.param .align 8 .b8 result[16]) divide (.param .b64 left, .param .b32 right)
    { .reg .f64 %x; .reg .b32 %n; .reg .f64 %y; .reg .pred %big;
    ld.param.f64 %x, [left]; ld.param.b32 %n, [right]; setp.gt.s32 %big, %n, 20; @%big bra skip;
    cvt.rn.f64.s32 %y, %n; div.rn.f64 %x, %x, %y; st.param.f64 [result+0], %x; st.param.b32 [result+8], %n; ret;
    skip: st.param.f64 [result+0], 0d0000000000000000; st.param.b32 [result+8], -1; ret; }"""
    call = """{ .param .b64 a; st.param.f64 [a+0], %e0; .param .b32 b; st.param.b32 [b+0], %x0;
    .param .align 8 .b8 out[16]; call.uni (out), divide, (a, b);
    ld.param.f64 %e1, [out+0]; ld.param.b32 %x1, [out+8]; }"""
    body = f"""{LANE}{at(0, "%p0", 8)} add.s32 %x0, %t, 1; mov.f64 %e0, 0d4059000000000000; {call}
    cvt.rn.f64.s32 %e2, %x1; mov.f64 %e3, %e1; add.s32 %x0, %t, 10; {call}
    add.f64 %e1, %e1, %e3; st.global.f64 [%p0], %e1;"""
    report = run(kernel(["u64"], body, function), [np.zeros(32)])
    share = lambda n: 100 / n if n <= 20 else 0  # noqa: E731
    assert report.outputs[0].tolist() == [share(lane + 1) + share(lane + 10) for lane in range(32)]
