"""Lanes that a branch parted meet at its post-dominator, wherever the compiler laid out the blocks."""

import numpy as np
import pytest

from playground.emulator import GlobalMemory, launch
from playground.emulator.reconverge import post_dominators

END = 99


@pytest.mark.parametrize(
    ("successors", "expected"),
    [
        ([(1,), (2,), (END,)], [3, 2, 1]),  # a chain
        ([(1, 2), (3,), (3,), (END,)], [2, 2, 2, 1]),  # a diamond: both sides pass 3
        ([(3, 1), (2,), (END,), (1,)], [3, 2, 1, 3]),  # a side that was laid out behind the end
        ([(1,), (1, 2), (END,)], [3, 2, 1]),  # a loop
        ([(1, END), (END,)], [1, 1]),  # an early exit: nothing but the end is common
    ],
)
def test_a_block_is_post_dominated_by_what_every_way_to_the_end_passes(successors, expected):
    assert list(post_dominators(successors)) == expected


SIDE_BEHIND_THE_END = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry kernel(.param .u64 out)
.maxntid 32, 1, 1
{
    .reg .pred %p<2>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 1;
    setp.lt.u32 %p1, %r1, 16;
    @%p1 bra $SIDE;
$MEET:
    shfl.sync.bfly.b32 %r3, %r2, 16, 31, -1;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r3;
    ret;
$SIDE:
    mov.u32 %r2, 2;
    bra.uni $MEET;
}
"""


@pytest.mark.parametrize("mode", ["warp", "block", "grid"])
def test_lanes_wait_for_those_that_took_the_side_behind_the_end(mode):
    memory = GlobalMemory()
    out = memory.place(np.zeros(32, np.uint32))
    report = launch(SIDE_BEHIND_THE_END, 1, 32, [out], memory, mode=mode)
    assert report.clean, report.hazards
    assert list(memory.read(out)) == [1] * 16 + [2] * 16  # each half holds what the other half had
