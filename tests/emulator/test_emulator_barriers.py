"""Block barriers: counts, names, reductions, arrivals, and who is ordered by them."""

import numpy as np
import pytest
from ptx_harness import kernel, kinds, run

from playground.emulator import UnknownInstruction, hazards

HEAD = """.reg .b32 %t, %w, %s, %x, %y; .reg .b64 %o; .reg .pred %q, %r;
mov.u32 %t, %tid.x; shr.u32 %w, %t, 5; mov.u32 %s, box; ld.param.u64 %o, [p0]; mad.wide.u32 %o, %t, 4, %o;
"""
BOX = ".shared .align 4 .b8 box[1024];"


def block(body: str, threads: int = 128, **options):
    return run(kernel(["u64"], HEAD + body, BOX), [np.zeros(threads, np.uint32)], block=threads, **options)


PRODUCE = "mad.lo.u32 %x, %t, 4, %s; st.shared.u32 [%x], %t;"
CONSUME = "xor.b32 %x, %t, {other}; mad.lo.u32 %x, %x, 4, %s; ld.shared.u32 %y, [%x]; st.global.u32 [%o], %y;"


@pytest.mark.parametrize("mode", ["warp", "block", "grid"])
@pytest.mark.parametrize(
    "barrier", ["bar.sync 0;", "barrier.sync 0;", "bar.sync 3, 128;", "barrier.cta.sync.aligned 1;"]
)
def test_whole_block_barriers(barrier, mode):
    report = block(f"{PRODUCE} {barrier} {CONSUME.format(other=96)}", mode=mode)
    assert report.clean and report.outputs[0].tolist() == [t ^ 96 for t in range(128)]
    assert report.counts.total()["barriers"] == 1


PAIRS = "shr.u32 %y, %w, 1; add.u32 %y, %y, 1; {produce} bar.sync %y, 64; {consume}"


@pytest.mark.parametrize("mode", ["warp", "block", "grid"])
def test_named_barriers_order_only_those_who_meet(mode):
    """Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2."""
    with_partner = block(PAIRS.format(produce=PRODUCE, consume=CONSUME.format(other=32)), mode=mode)
    assert with_partner.clean and with_partner.outputs[0].tolist() == [t ^ 32 for t in range(128)]
    assert with_partner.counts.total()["barriers"] == 2
    with_others = block(PAIRS.format(produce=PRODUCE, consume=CONSUME.format(other=64)), mode=mode)
    assert kinds(with_others) == {hazards.READ_AFTER_WRITE}


@pytest.mark.parametrize("mode", ["warp", "block", "grid"])
def test_arriving_orders_what_came_before(mode):
    """Warp 0 writes and arrives; warp 1 waits for it and reads."""
    body = f"""setp.ge.u32 %q, %t, 32; @%q bra consumer; {PRODUCE} bar.arrive 1, 64; {{after}} bra done;
    consumer: bar.sync 1, 64; {CONSUME.format(other=32)} done:"""
    report = block(body.format(after=""), threads=64, mode=mode)
    assert report.clean and report.outputs[0].tolist() == [0] * 32 + list(range(32))
    # What is written after arriving is not ordered.
    report = block(body.format(after="st.shared.u32 [%x], %w;"), threads=64, mode=mode)
    assert len(kinds(report)) == 1 and kinds(report) <= {hazards.READ_AFTER_WRITE, hazards.WRITE_AFTER_READ}


@pytest.mark.parametrize("how, kind, expected", [("popc", "u32", 70), ("and", "pred", 0), ("or", "pred", 1)])
@pytest.mark.parametrize("mode", ["warp", "block", "grid"])
def test_reductions(how, kind, expected, mode):
    target = "%y" if kind == "u32" else "%r"
    show = "" if kind == "u32" else "selp.u32 %y, 1, 0, %r;"
    report = block(
        f"setp.lt.u32 %q, %t, 70; barrier.cta.red.{how}.aligned.{kind} {target}, 0, %q; {show} st.global.u32 [%o], %y;",
        mode=mode,
    )
    assert report.clean and (report.outputs[0] == expected).all()


def test_a_barrier_that_nobody_can_complete():
    report = block("setp.lt.u32 %q, %t, 64; @%q bar.sync 1, 128; @!%q bar.sync 2, 128;")
    assert kinds(report) == {hazards.BARRIER} and "none can be completed" in report.hazards[0].detail


def test_two_barriers_in_the_arms_of_a_branch():
    body = "setp.lt.u32 %q, %t, 64; @%q bra other; bar.sync 0; bra join; other: bar.sync 0; join:"
    report = block(body)
    assert kinds(report) == {hazards.BARRIER} and "wait at another barrier" in report.hazards[0].detail


def test_a_part_of_a_warp_at_a_named_barrier():
    report = block("setp.lt.u32 %q, %t, 16; @%q bar.sync 1, 16;", threads=32)
    assert kinds(report) == {hazards.BARRIER} and report.hazards[0].lanes == tuple(range(16))


def test_barriers_of_blocks_that_differ_in_their_number_of_steps():
    body = f"""{PRODUCE} mov.u32 %y, %ctaid.x;
    again: bar.sync 0; setp.eq.u32 %q, %y, 0; @%q bra out; sub.u32 %y, %y, 1; bra again; out:
    {CONSUME.format(other=96)}"""
    report = run(kernel(["u64"], HEAD + body, BOX), [np.zeros(128, np.uint32)], block=128, grid=4)
    assert report.counts.total()["barriers"] == 1 + 2 + 3 + 4


def test_unknown_barriers_are_refused():
    with pytest.raises(UnknownInstruction):
        block("barrier.cluster.arrive;")
