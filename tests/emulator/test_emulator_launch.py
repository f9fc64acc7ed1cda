"""Launching: limits, parameters, bad input, endless kernels, chunks of blocks."""

from itertools import pairwise

import numpy as np
import pytest
from ptx_harness import kernel, run

from playground.emulator import BadLaunch, BudgetExceeded, GlobalMemory, UnknownInstruction, launch
from playground.emulator import launch as launch_module
from playground.errors import Refusal

NOTHING = kernel([], "")
STORE = kernel(
    ["u64"],
    """.reg .b32 %b, %t, %n; .reg .b64 %a; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x;
    mad.lo.u32 %t, %b, %n, %t; ld.param.u64 %a, [p0]; mad.wide.u32 %a, %t, 4, %a; st.global.u32 [%a], %t;""",
)


def start(ptx=NOTHING, grid=1, block=32, parameters=(), **options):
    return launch(ptx, grid, block, parameters, options.pop("buffers", GlobalMemory()), **options)


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(grid=0), "x = 0 is not between 1"),
        (dict(grid=(1, 70000)), "y = 70,000 is not between 1 and 65,535"),
        (dict(grid=(1, 1, 1, 1)), "one to three integers"),
        (dict(grid=1.5), "1.5"),
        (dict(block=0), "block is (0, 1, 1)"),
        (dict(block=(2000,)), "x = 2,000 is not between 1 and 1,024"),
        (dict(block=(64, 32)), "2,048 threads: the limit is 1,024"),
        (dict(block=(1, 1, 65)), "z = 65"),
        (dict(shared_bytes=300_000), "300,000 bytes of shared memory per block: the limit is 232,448"),
        (dict(shared_bytes=-1), "shared_bytes is -1: it must be an integer, 0 or more"),
        (dict(shared_bytes="64"), "shared_bytes is '64': it must be an integer"),
        (dict(shared_bytes=True), "shared_bytes is True: it must be an integer"),
        (dict(budget=0), "budget is 0: it must be an integer, 1 or more"),
        (dict(budget=1e6), "budget is 1000000.0: it must be an integer"),
        (dict(parameters=[1]), "takes 0 parameters, 1 were given"),
        (dict(mode="lane"), "mode 'lane': it must be one of warp, block, grid"),
        (dict(buffers=[]), "must be a GlobalMemory, not list"),
    ],
)
def test_bad_launches_are_one_clear_line(options, message):
    with pytest.raises(BadLaunch) as caught:
        start(**options)
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, Refusal)


def test_launch_bounds_of_the_kernel():
    ptx = kernel([], "", threads=64)
    assert start(ptx, block=64).clean
    with pytest.raises(BadLaunch, match="compiled for at most 64 threads, the block has 96"):
        start(ptx, block=96)


@pytest.mark.parametrize(
    "kind, given, message",
    [("u32", 2**32, "does not fit in 32 bits"), ("u32", 1.5, "must be an integer, not float"), ("u64", "x", "not str"),
     ("f32", "x", "no number"), ("s16", -40000, "does not fit in 16 bits")],
)  # fmt: skip
def test_bad_parameters(kind, given, message):
    with pytest.raises(BadLaunch, match=message):
        start(kernel([kind], ""), parameters=[given])


def test_parameters_of_every_type():
    kinds = ["u64", "s32", "u16", "u8", "f32", "f64", "b64"]
    values = [2**40 + 1, -7, 65535, 200, 1.5, -0.1, -1]
    registers = {"u64": "%p1", "s32": "%r", "u16": "%h", "u8": "%h", "f32": "%f", "f64": "%e", "b64": "%p1"}
    convert = {"s32": "cvt.rn.f64.s32", "u64": "cvt.rn.f64.u64", "u16": "cvt.rn.f64.u16", "u8": "cvt.rn.f64.u16",
               "f32": "cvt.f64.f32", "f64": "mov.f64", "b64": "cvt.rn.f64.s64"}  # fmt: skip
    body = ".reg .b64 %p0, %p1; .reg .b32 %r; .reg .b16 %h; .reg .f32 %f; .reg .f64 %e, %d; ld.param.u64 %p0, [p0];"
    for place, kind in enumerate(kinds, 1):
        body += f"ld.param.{kind} {registers[kind]}, [p{place}]; {convert[kind]} %d, {registers[kind]};"
        body += f"st.global.f64 [%p0+{8 * place - 8}], %d;"
    report = run(kernel(["u64", *kinds], body), [np.zeros(len(kinds))], block=1, scalars=values)
    assert report.outputs[0].tolist() == values


def test_buffers_refuse_what_is_no_plain_array():
    memory = GlobalMemory()
    for wrong, message in (
        ([1, 2], "NumPy arrays, not list"),
        (np.zeros((4, 4))[:, ::2], "must be C-contiguous"),
        (np.array([None]), "dtype object"),
    ):
        with pytest.raises(BadLaunch, match=message):
            memory.place(wrong)


def test_addresses_are_aligned_and_far_apart():
    memory = GlobalMemory()
    addresses = [memory.place(np.zeros(n, np.uint8)) for n in (1, 300, 256)]
    assert all(address % 256 == 0 for address in addresses)
    assert all(after - before > 4096 for before, after in pairwise(addresses))


def test_an_endless_kernel_says_where_it_spins():
    ptx = kernel([], ".loc 1 7 0\n.reg .b32 %x; mov.u32 %x, 0;\n.loc 1 12 0\nspin: add.u32 %x, %x, 1; bra spin;")
    with pytest.raises(
        BudgetExceeded, match=r"kernel\.py:12: warp 0 of block 0 ran more than 5,000 instructions.*spin"
    ) as caught:
        start(ptx + '.file 1 "kernel.py"\n', budget=5000)
    assert isinstance(caught.value, Refusal)


def test_a_lane_that_never_leaves_a_loop():
    body = "spin: .reg .pred %q; .reg .b32 %t; mov.u32 %t, %tid.x; setp.eq.u32 %q, %t, 3; @%q bra spin;"
    with pytest.raises(BudgetExceeded, match="warp 0 of block 0"):
        start(kernel([], body), block=64, budget=3000)


@pytest.mark.parametrize("mode", ["warp", "block", "grid"])
def test_an_endless_kernel_with_a_barrier_in_its_loop(mode):
    ptx = kernel([], ".loc 1 7 0\nspin: bar.sync 0;\n.loc 1 9 0\nbra spin;") + '.file 1 "kernel.py"\n'
    with pytest.raises(BudgetExceeded, match=r"kernel\.py:9: warp \d of block 0 ran more than 1,000 .*spin"):
        start(ptx, grid=2, block=64, budget=1000, mode=mode)


def test_an_unknown_instruction_carries_its_text_and_its_line():
    ptx = kernel([], ".loc 1 40 0\n.reg .b32 %x; frobnicate.sync.u32 %x, %x;") + '.file 1 "kernel.py"\n'
    with pytest.raises(
        UnknownInstruction, match=r"kernel\.py:40: the emulator does not know 'frobnicate\.sync\.u32 %x, %x'"
    ):
        start(ptx)


@pytest.mark.parametrize(
    "statement", ["mov.u32 %x, %nonsense;", "ld.global.v4.f64 {%d,%d,%d,%d}, [%a], 1;", "add.u32 %x, %d, %x;"]
)
def test_malformed_operands_are_refused(statement):
    with pytest.raises(UnknownInstruction):
        start(kernel([], f".reg .b32 %x; .reg .f64 %d; .reg .b64 %a; {statement}"))


def test_a_module_without_or_with_two_kernels():
    for ptx, number in (("", 0), (NOTHING + NOTHING.replace("kernel", "other").split(".address_size 64")[1], 2)):
        with pytest.raises(BadLaunch, match=f"{number} .entry functions"):
            start(ptx)


def test_grids_in_three_dimensions():
    body = """.reg .b32 %x, %y, %z, %n, %m; .reg .b64 %a; .reg .pred %q;
    mov.u32 %x, %ctaid.x; mov.u32 %y, %ctaid.y; mov.u32 %z, %ctaid.z; mov.u32 %n, %nctaid.x; mov.u32 %m, %nctaid.y;
    mad.lo.u32 %m, %z, %m, %y; mad.lo.u32 %x, %m, %n, %x; mov.u32 %y, %tid.z; mov.u32 %z, %tid.y; mov.u32 %n, %tid.x;
    mad.lo.u32 %y, %y, 3, %z; mad.lo.u32 %y, %y, 5, %n; mad.lo.u32 %x, %x, 30, %y;
    ld.param.u64 %a, [p0]; mad.wide.u32 %a, %x, 4, %a; st.global.u32 [%a], %x;"""
    report = run(kernel(["u64"], body), [np.zeros(24 * 30, np.uint32)], grid=(4, 3, 2), block=(5, 3, 2))
    assert report.clean and (report.outputs[0] == np.arange(24 * 30)).all()


def test_a_grid_larger_than_a_chunk():
    blocks = 3 * launch_module.__globals__["CHUNK_LANES"] // 32 + 5
    report = run(STORE, [np.zeros(32 * blocks, np.uint32)], grid=blocks)
    assert report.clean and (report.outputs[0] == np.arange(32 * blocks)).all()


def test_memory_of_a_chunk_is_bounded():
    """However large blocks and grid are, a chunk's registers, shared memory and its checks stay below the bound."""
    from playground.emulator.launch import CHUNK_BYTES, Launch
    from playground.emulator.parse import parse
    from playground.emulator.program import Program

    many = kernel([], ".reg .b64 %r<2000>; .extern .shared .align 16 .b8 box[]; .reg .b16 %h; st.shared.u8 [box], %h;")
    large = Launch(Program(parse(many)), (10**6, 1, 1), (1024, 1, 1), [], GlobalMemory(), 200_000)
    large.prepare(checks=True, budget=1)
    per_block = 1024 * 16000 + 10 * 200_000
    assert large.blocks_per_chunk() * per_block < 2 * CHUNK_BYTES <= 1 << 30
