"""What is counted, against numbers worked out by hand."""

import json
import math
from pathlib import Path

import numpy as np
import plain_kernels as plain
import pytest
from emulated_kernels import GEMM_THREADS, gemm, run_gemm
from numba import cuda
from ptx_harness import by_opcode, kernel, line_of, run

from playground.emulator import emulate


@pytest.mark.parametrize("stride, degree", [(64, 4), (128, 8), (256, 8), (272, 1), (80, 1), (144, 1), (96, 2), (48, 1)])
@pytest.mark.parametrize("instruction", ["ldmatrix", "wmma"])
def test_bank_conflicts_of_matrix_rows(stride, degree, instruction):
    """Unpadded rows of 256 bytes: 8-way; of 64 bytes: 4-way; of 272 bytes: none."""
    read = {
        "ldmatrix": f"""and.b32 %x, %t, 7; mad.lo.u32 %s, %x, {stride}, %s;
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r0,%r1,%r2,%r3}}, [%s];""",
        "wmma": f"""wmma.load.a.sync.aligned.row.m16n16k16.shared.f16
        {{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}}, [%s], {stride // 2};""",
    }[instruction]
    body = f".reg .b32 %t, %x, %s, %r<8>; mov.u32 %t, %tid.x; mov.u32 %s, box; {read}"
    report = run(kernel(["u64"], body, ".shared .align 32 .b8 box[8192];"), [np.zeros(1)], checks=False)
    counts = report.counts.total()
    assert counts["shared_load_conflict_degree"] == degree
    assert counts["shared_load_wavefronts_ideal"] == 4
    assert counts["shared_load_bytes"] == 512


@pytest.mark.parametrize(
    "width, stride, wavefronts, ideal",
    [(4, 4, 1, 1), (4, 8, 2, 1), (4, 128, 32, 1), (4, 0, 1, 1), (4, 132, 1, 1), (8, 8, 2, 2), (8, 16, 4, 2),
     (16, 16, 4, 4), (16, 32, 8, 4), (1, 1, 1, 1), (2, 2, 1, 1), (2, 4, 1, 1), (2, 8, 2, 1)],
)  # fmt: skip
def test_bank_conflicts_of_loads(width, stride, wavefronts, ideal):
    kind = {1: "u8", 2: "u16", 4: "u32", 8: "v2.u32", 16: "v4.u32"}[width]
    names = {8: "{%r0,%r1}", 16: "{%r0,%r1,%r2,%r3}"}.get(width, "%r0")
    body = f""".reg .b32 %t, %s, %r<4>; mov.u32 %t, %tid.x; mov.u32 %s, box;
    mad.lo.u32 %s, %t, {stride}, %s; ld.shared.{kind} {names}, [%s];"""
    report = run(kernel(["u64"], body, ".shared .align 32 .b8 box[8192];"), [np.zeros(1)], checks=False)
    counts = report.counts.total()
    assert (counts["shared_load_wavefronts"], counts["shared_load_wavefronts_ideal"]) == (wavefronts, ideal)


def test_idle_lanes_cost_nothing():
    body = """.reg .b32 %t, %s, %r; .reg .pred %q; mov.u32 %t, %tid.x; mov.u32 %s, box; mad.lo.u32 %s, %t, 128, %s;
    setp.lt.u32 %q, %t, 5; @%q ld.shared.u32 %r, [%s]; setp.gt.u32 %q, %t, 90; @%q ld.shared.u32 %r, [%s];"""
    counts = run(
        kernel(["u64"], body, ".shared .align 32 .b8 box[8192];"), [np.zeros(1)], block=64, checks=False
    ).counts.total()
    assert counts["shared_load_wavefronts"] == 5 and counts["shared_load_wavefronts_ideal"] == 1
    assert counts["shared_load_bytes"] == 20


@pytest.mark.parametrize(
    "stride, offset, sectors, utilisation",
    [(4, 0, 4, 1), (4, 4, 5, 0.8), (8, 0, 8, 0.5), (32, 0, 32, 0.125), (0, 0, 1, 0.125)],
)
def test_sectors(stride, offset, sectors, utilisation):
    body = f""".reg .b32 %t; .reg .b64 %a; .reg .f32 %f; mov.u32 %t, %tid.x;
    ld.param.u64 %a, [p0]; mad.wide.u32 %a, %t, {stride}, %a;
    ld.global.f32 %f, [%a+{offset}]; st.global.f32 [%a+{offset}], %f;"""
    counts = run(kernel(["u64"], body), [np.zeros(300, np.float32)]).counts.total()
    for kind in ("load", "store"):
        assert counts[f"global_{kind}_sectors"] == sectors
        assert counts[f"global_{kind}_utilisation"] == pytest.approx(utilisation)


def test_one_element_per_thread_wastes_no_sector():
    """The seeds say that one f32 per thread uses 1/8 of a sector. Neighbouring lanes use the rest."""

    def convert(x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = x[i]

    x = np.random.default_rng(0).random(1024, np.float32)
    counts = emulate(convert, 4, 256, x, np.zeros(1024, np.float16)).counts.total()
    assert counts["global_load_utilisation"] == counts["global_store_utilisation"] == 1
    assert counts["global_load_sectors"] == 1024 * 4 // 32 and counts["global_store_sectors"] == 1024 * 2 // 32


def test_gemm_by_hand():
    nt, od, id, ks = 128, 64, 96, 32
    report, _ = run_gemm(gemm(), nt=nt, od=od, id=id)
    counts = report.counts.total()
    blocks, steps = nt // 64 * od // 64, id // ks
    warps = GEMM_THREADS // 32
    assert counts["barriers"] == blocks * 2 * steps
    assert counts["mma_flop"] == 2 * nt * od * id
    assert counts["mma_executed"] == 2 * nt * od * id // 8192
    assert counts["wmma_load_executed"] == blocks * steps * warps * 2 * (2 + 4)
    assert counts["shared_load_bytes"] == counts["wmma_load_executed"] * 512
    assert counts["global_cp_async_bytes"] == blocks * steps * 128 * ks * 2 == counts["shared_cp_async_bytes"]
    assert counts["global_store_bytes"] == 4 * nt * od
    assert counts["shared_load_conflict_degree"] == 1
    assert counts["inst_executed_barrier"] == counts["barriers"] * warps
    assert run_gemm(gemm(pad=0), pad=0)[0].counts.total()["shared_load_conflict_degree"] == 4


def test_classes_add_up_and_lines_add_up():
    report, _ = run_gemm(gemm(), id=64)
    counts = report.counts.total()
    classes = {name: value for name, value in counts.items() if name.startswith("inst_executed_")}
    assert sum(classes.values()) == counts["inst_executed"] == sum(by_opcode(report.counts).values())
    by_line = report.counts.by_line()
    for name in ("inst_executed", "mma_flop", "barriers", "shared_load_wavefronts", "global_cp_async_bytes"):
        assert sum(numbers.get(name, 0) for numbers in by_line.values()) == counts[name]
    file = gemm.__wrapped__.__code__.co_filename
    line = line_of(Path(file).read_text(), "wmma.load_a_row(a,")
    assert by_line[file, line]["wmma_load_executed"] == 4 * 2 * 2 * 2


def test_counts_are_plain_numbers():
    report, _ = run_gemm(gemm())
    counts = report.counts.total()
    assert json.loads(json.dumps(counts)) == counts
    assert all(type(value) in (int, float) and math.isfinite(value) for value in counts.values())


@pytest.mark.parametrize("limit, parted", [(0, 0), (8, 1), (32, 0), (40, 1), (64, 0), (200, 0)])
def test_divergent_branches(limit, parted):
    """Of four warps only the one with lanes on both sides parts; each warp with a lane there issues the add."""
    body = f""".reg .b32 %t, %x; .reg .pred %q; mov.u32 %t, %tid.x; setp.ge.u32 %q, %t, {limit}; @%q bra join;
    add.u32 %x, %t, 1; join: mov.u32 %x, %t;"""
    counts = run(kernel(["u64"], body), [np.zeros(1)], block=128).counts
    inside = min(limit, 128)
    assert counts.total()["branch_divergent"] == parted
    assert by_opcode(counts).get("add.u32", 0) == -(-inside // 32)
    assert counts.total()["thread_inst_executed"] == 128 * (3 + 2) + inside


def test_transpose_conflicts():
    x = np.zeros((32, 32), np.float32)
    for pad, degree in ((0, 32), (1, 1)):
        report = emulate(plain.transpose(tile=32, pad=pad), (1, 1), (32, 32), x, x.copy())
        assert report.counts.total()["shared_load_conflict_degree"] == degree
