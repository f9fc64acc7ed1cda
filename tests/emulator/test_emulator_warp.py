"""Shuffles, votes and matches against the pseudo-code of the PTX ISA, lane by lane."""

import numpy as np
import pytest
from ptx_harness import kernel, kinds, run

from playground.emulator import hazards

FULL = 0xFFFFFFFF


def lanes(statement: str, values, members=None, results=1, block=None):
    """Run a statement with %v the lane's value, %m its member mask, and results %r0, %p0 (bool) stored as uint32."""
    values = np.asarray(values, np.uint32)
    body = f"""
    .reg .b32 %t, %v, %m, %r0, %r1; .reg .b64 %a, %w; .reg .pred %p0, %q;
    mov.u32 %t, %tid.x; ld.param.u64 %a, [p0]; mad.wide.u32 %a, %t, 4, %a; ld.global.u32 %v, [%a];
    ld.param.u64 %a, [p1]; mad.wide.u32 %a, %t, 4, %a; ld.global.u32 %m, [%a]; cvt.u64.u32 %w, %v;
    setp.ne.u32 %q, %v, 0; setp.eq.u32 %p0, %t, %t; mov.u32 %r0, 0; {statement}
    selp.u32 %r1, 1, 0, %p0; ld.param.u64 %a, [p2]; mad.wide.u32 %a, %t, 8, %a; st.global.v2.u32 [%a], {{%r0, %r1}};"""
    members = np.full(len(values), FULL, np.uint32) if members is None else np.asarray(members, np.uint32)
    return run(kernel(["u64"] * 3, body), [values, members, np.zeros((len(values), 2), np.uint32)], block=len(values))


def shuffled(mode: str, values, offset: int, clamp: int):
    """The pseudo-code of "shfl.sync"."""
    result = []
    for lane in range(32):
        bval, cval, mask = offset & 0x1F, clamp & 0x1F, clamp >> 8 & 0x1F
        max_lane, min_lane = (lane & mask) | (cval & ~mask & 0x1F), lane & mask
        if mode == "up":
            j = lane - bval
            inside = j >= max_lane
        elif mode == "down":
            j = lane + bval
            inside = j <= max_lane
        elif mode == "bfly":
            j = lane ^ bval
            inside = j <= max_lane
        else:
            j = min_lane | (bval & ~mask & 0x1F)
            inside = j <= max_lane
        result.append((values[j if inside else lane], int(inside)))
    return result


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
@pytest.mark.parametrize("clamp", [31, 0, 7, 0x1F00 >> 0 & 0x1C00 | 31, 0x1800 | 7, 0x1000])
@pytest.mark.parametrize("offset", [0, 1, 3, 16, 31])
def test_shuffle(mode, clamp, offset):
    values = np.arange(32) * 3 + 1
    report = lanes(f"shfl.sync.{mode}.b32 %r0|%p0, %v, {offset}, {clamp}, {FULL};", values)
    assert [tuple(row) for row in report.outputs[2].tolist()] == shuffled(mode, values.tolist(), offset, clamp)
    assert report.clean


def test_shuffle_stays_in_its_warp():
    values = np.arange(96)
    report = lanes(f"shfl.sync.bfly.b32 %r0, %v, 31, 31, {FULL};", values)
    assert report.outputs[2][:, 0].tolist() == [warp * 32 + 31 - lane for warp in range(3) for lane in range(32)]


@pytest.mark.parametrize("values", [np.zeros(32), np.ones(32), np.arange(32) % 3, np.arange(32) == 31])
def test_votes(values):
    flags = np.asarray(values) != 0
    expected = {"all": flags.all(), "any": flags.any(), "uni": flags.all() or not flags.any()}
    for mode, value in expected.items():
        report = lanes(f"vote.sync.{mode}.pred %p0, %q, {FULL};", values)
        assert (report.outputs[2][:, 1] == value).all() and report.clean
    ballot = lanes(f"vote.sync.ballot.b32 %r0, %q, {FULL};", values).outputs[2][:, 0]
    assert (ballot == sum(1 << lane for lane in range(32) if flags[lane])).all()


def test_match():
    values = np.arange(32) % 5
    expected = [sum(1 << other for other in range(32) if values[other] == value) for value in values]
    assert lanes(f"match.any.sync.b32 %r0, %v, {FULL};", values).outputs[2][:, 0].tolist() == expected
    assert lanes(f"match.any.sync.b64 %r0, %w, {FULL};", values).outputs[2][:, 0].tolist() == expected
    assert lanes(f"match.all.sync.b32 %r0|%p0, %v, {FULL};", values).outputs[2].tolist() == [[0, 0]] * 32
    assert lanes(f"match.all.sync.b32 %r0|%p0, %v, {FULL};", values * 0).outputs[2].tolist() == [[FULL, 1]] * 32


@pytest.mark.parametrize("name, function", [("add", sum), ("min", min), ("max", max)])
def test_reductions(name, function):
    values = np.random.default_rng(0).integers(0, 1000, 64)
    got = lanes(f"redux.sync.{name}.u32 %r0, %v, {FULL};", values).outputs[2][:, 0]
    assert got.tolist() == [function(values[:32].tolist())] * 32 + [function(values[32:].tolist())] * 32


def test_special_registers():
    names = ["tid.x", "laneid", "warpid", "ntid.x", "lanemask_lt", "lanemask_ge", "lanemask_eq", "nctaid.x"]
    for name in names:
        got = lanes(f"mov.u32 %r0, %{name};", np.zeros(64)).outputs[2][:, 0].astype(np.int64)
        thread = np.arange(64)
        lane = thread % 32
        assert (got == {
            "tid.x": thread, "laneid": lane, "warpid": thread // 32, "ntid.x": 64, "lanemask_lt": (1 << lane) - 1,
            "lanemask_ge": FULL ^ ((1 << lane) - 1), "lanemask_eq": 1 << lane, "nctaid.x": 1,
        }[name]).all()  # fmt: skip


def test_activemask_and_partial_warps():
    report = lanes("activemask.b32 %r0;", np.zeros(40))
    assert report.outputs[2][:, 0].tolist() == [FULL] * 32 + [0xFF] * 8
    report = lanes(f"shfl.sync.idx.b32 %r0, %v, 2, 31, {FULL};", np.arange(40))
    assert report.outputs[2][:, 0].tolist() == [2] * 32 + [34] * 8 and report.clean


BRANCH = "setp.lt.u32 %q, %t, 16; @!%q bra rest; shfl.sync.bfly.b32 %r0, %v, 1, 31, {members}; rest:"


def test_a_member_mask_must_name_who_comes():
    values = np.arange(32)
    assert lanes(BRANCH.format(members=0xFFFF), values).clean
    report = lanes(BRANCH.format(members=FULL), values)
    assert kinds(report) == {hazards.SYNC} and report.hazards[0].lanes == tuple(range(16))
    report = lanes(BRANCH.format(members=0xFF), values)
    assert kinds(report) == {hazards.SYNC} and report.hazards[0].lanes == tuple(range(8, 16))
    predicated = "setp.lt.u32 %q, %t, 16; @%q bar.warp.sync {members};"
    assert lanes(predicated.format(members=0xFFFF), values).clean
    assert kinds(lanes(predicated.format(members=FULL), values)) == {hazards.SYNC}
