"""cp.async: what lands, when it lands, and what happens to those who do not wait."""

import numpy as np
import pytest
from ptx_harness import kernel, kinds, run

from playground.emulator import UnknownInstruction, hazards

SETUP = """
.reg .b32 %t, %s, %x, %w<4>, %n; .reg .b64 %g, %o, %c; .reg .pred %q;
mov.u32 %t, %tid.x; mov.u32 %s, box; mad.lo.u32 %s, %t, 16, %s;
ld.param.u64 %g, [p0]; mad.wide.u32 %g, %t, 16, %g; ld.param.u64 %o, [p1]; mad.wide.u32 %o, %t, 16, %o;
"""
SHOW = "ld.shared.v4.b32 {%w0,%w1,%w2,%w3}, [%s]; st.global.v4.b32 [%o], {%w0,%w1,%w2,%w3};"
BOX = ".shared .align 16 .b8 box[2048];"
COPY = "cp.async.cg.shared.global [%s], [%g], 16;"


def copied(body: str, data=None, threads: int = 32, **options):
    data = np.arange(1, 1 + 16 * threads, dtype=np.uint64).astype(np.uint8) if data is None else data
    return run(
        kernel(["u64", "u64"], SETUP + body, BOX), [data, np.zeros(16 * threads, np.uint8)], block=threads, **options
    )


@pytest.mark.parametrize("cache, size", [("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)])
@pytest.mark.parametrize("wait", ["cp.async.commit_group; cp.async.wait_group 0;", "cp.async.wait_all;"])
def test_sizes_and_waits(cache, size, wait):
    clear = "mov.b32 %x, 0; st.shared.v4.b32 [%s], {%x,%x,%x,%x};"
    report = copied(f"{clear} cp.async.{cache}.shared.global.L2::128B [%s], [%g], {size}; {wait} {SHOW}")
    expected = np.arange(1, 513).astype(np.uint8).reshape(32, 16)
    expected[:, size:] = 0
    assert (report.outputs[1].reshape(32, 16) == expected).all() and report.clean
    assert report.counts.total()["shared_cp_async_bytes"] == report.counts.total()["global_cp_async_bytes"] == 32 * size


def test_partial_sources_are_filled_with_zeros_and_read_nothing_beyond():
    """Lane t reads t bytes, at most 16; lane 0 points nowhere at all."""
    body = f"""min.u32 %n, %t, 16; setp.eq.u32 %q, %t, 0; selp.b64 %g, 0, %g, %q;
    cp.async.cg.shared.global [%s], [%g], 16, %n; cp.async.wait_all; {SHOW}"""
    data = np.arange(1, 1 + 16 * 31 + 16, dtype=np.uint64).astype(np.uint8)
    report = copied(body, data)
    expected = data.reshape(32, 16).copy()
    for lane in range(32):
        expected[lane, min(lane, 16) :] = 0
    assert report.clean and (report.outputs[1].reshape(32, 16) == expected).all()
    assert report.counts.total()["global_cp_async_bytes"] == sum(min(lane, 16) for lane in range(32))


def test_a_copy_reads_its_source_when_it_lands():
    body = (
        f"{COPY} cp.async.commit_group; mov.b32 %x, 0x55555555; st.global.b32 [%g], %x; cp.async.wait_group 0; {SHOW}"
    )
    report = copied(body)
    assert (report.outputs[1].reshape(32, 16)[:, :4] == 0x55).all()


def test_wait_group_leaves_the_newest_in_flight():
    body = """cp.async.cg.shared.global [%s], [%g], 16; cp.async.commit_group;
    cp.async.cg.shared.global [%s+512], [%g], 16; cp.async.commit_group; cp.async.wait_group {pending};
    {show} cp.async.wait_all;"""
    assert copied(body.format(pending=1, show=SHOW)).clean
    assert kinds(copied(body.format(pending=2, show=SHOW))) == {hazards.ASYNC_READ}
    second = SHOW.replace("[%s]", "[%s+512]")
    assert kinds(copied(body.format(pending=1, show=second))) == {hazards.ASYNC_READ}
    assert copied(body.format(pending=0, show=second)).clean


def test_an_uncommitted_copy_is_not_waited_for_by_groups():
    assert kinds(copied(f"{COPY} cp.async.wait_group 0; {SHOW} cp.async.wait_all;")) == {hazards.ASYNC_READ}


def test_a_copy_that_nobody_waits_for():
    assert kinds(copied(f"{COPY} cp.async.commit_group;")) == {hazards.ASYNC_LOST}


def test_a_write_over_a_copy_in_flight():
    assert kinds(copied(f"{COPY} st.shared.b32 [%s], %t; cp.async.wait_all;")) == {hazards.ASYNC_WRITE}
    assert kinds(copied(f"{COPY} {COPY} cp.async.wait_all;")) == {hazards.ASYNC_WRITE}


NEIGHBOUR = """xor.b32 %x, %t, 32; mov.u32 %s, box; mad.lo.u32 %s, %x, 16, %s;
ld.shared.v4.b32 {%w0,%w1,%w2,%w3}, [%s]; st.global.v4.b32 [%o], {%w0,%w1,%w2,%w3};"""


@pytest.mark.parametrize("mode", ["warp", "block", "grid"])
def test_other_warps_need_a_barrier_after_the_wait(mode):
    right = f"{COPY} cp.async.wait_all; bar.sync 0; {NEIGHBOUR}"
    report = copied(right, threads=64, mode=mode)
    assert (
        report.clean
        and (report.outputs[1].reshape(2, -1) == np.arange(1, 1025).astype(np.uint8).reshape(2, -1)[::-1]).all()
    )
    assert kinds(copied(f"{COPY} cp.async.wait_all; {NEIGHBOUR}", threads=64, mode=mode)) == {hazards.READ_AFTER_WRITE}
    # A barrier does not order copies: only the wait does, and it must come first.
    late = f"{COPY} bar.sync 0; {NEIGHBOUR} cp.async.wait_all;"
    assert kinds(copied(late, threads=64, mode=mode)) == {hazards.ASYNC_READ}


def test_sources_out_of_bounds_are_reported_and_read_as_zeros():
    report = copied(f"{COPY} cp.async.wait_all; {SHOW}", np.ones(16 * 30, np.uint8))
    (hazard,) = report.hazards
    assert (hazard.kind, hazard.lanes) == (hazards.GLOBAL_BOUNDS, (30, 31))
    assert report.outputs[1].reshape(32, 16).any(1).tolist() == [True] * 30 + [False] * 2


def test_predicated_copies():
    body = f"""setp.lt.u32 %q, %t, 5; mov.b32 %x, 0; st.shared.v4.b32 [%s], {{%x,%x,%x,%x}};
    @%q {COPY} cp.async.wait_all; {SHOW}"""
    report = copied(body)
    assert report.clean and report.outputs[1].reshape(32, 16).any(1).tolist() == [True] * 5 + [False] * 27


@pytest.mark.parametrize("statement", ["cp.async.cg.shared.global [%s], [%g], 8;", "cp.async.bulk.commit_group;"])
def test_unknown_forms_are_refused(statement):
    with pytest.raises(UnknownInstruction):
        copied(statement)
