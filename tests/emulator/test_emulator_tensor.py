"""Matrix instructions: fragments filled by the ISA's formulas, typed here once more, against float64 products."""

import itertools

import numpy as np
import pytest
from ptx_harness import kernel, kinds, run

from playground.emulator import UnknownInstruction, hazards

# PTX ISA, figures "MMA .m16n8k16 fragment layout for matrix A / B / accumulator with .f16 type" and ".m16n8k8": the
# (row, column) of each element in lanes 0, 1, 5 and 31, read off the figures.
FIGURES = {
    ("m16n8k16", "a"): {
        0: [(0, 0), (0, 1), (8, 0), (8, 1), (0, 8), (0, 9), (8, 8), (8, 9)],
        1: [(0, 2), (0, 3), (8, 2), (8, 3), (0, 10), (0, 11), (8, 10), (8, 11)],
        5: [(1, 2), (1, 3), (9, 2), (9, 3), (1, 10), (1, 11), (9, 10), (9, 11)],
        31: [(7, 6), (7, 7), (15, 6), (15, 7), (7, 14), (7, 15), (15, 14), (15, 15)],
    },
    ("m16n8k16", "b"): {
        0: [(0, 0), (1, 0), (8, 0), (9, 0)],
        1: [(2, 0), (3, 0), (10, 0), (11, 0)],
        5: [(2, 1), (3, 1), (10, 1), (11, 1)],
        31: [(6, 7), (7, 7), (14, 7), (15, 7)],
    },
    ("m16n8k16", "c"): {
        0: [(0, 0), (0, 1), (8, 0), (8, 1)],
        1: [(0, 2), (0, 3), (8, 2), (8, 3)],
        5: [(1, 2), (1, 3), (9, 2), (9, 3)],
        31: [(7, 6), (7, 7), (15, 6), (15, 7)],
    },
    ("m16n8k8", "a"): {
        0: [(0, 0), (0, 1), (8, 0), (8, 1)],
        5: [(1, 2), (1, 3), (9, 2), (9, 3)],
        31: [(7, 6), (7, 7), (15, 6), (15, 7)],
    },
    ("m16n8k8", "b"): {0: [(0, 0), (1, 0)], 5: [(2, 1), (3, 1)], 31: [(6, 7), (7, 7)]},
}


def table(shape: str, operand: str):
    """[lane][element] -> (row, column), extended from lane 0 by what the figures show: rows of four lanes."""
    first = FIGURES[shape, operand][0]
    if operand == "b":
        return [[(row + 2 * (lane % 4), column + lane // 4) for row, column in first] for lane in range(32)]
    return [[(row + lane // 4, column + 2 * (lane % 4)) for row, column in first] for lane in range(32)]


@pytest.mark.parametrize("shape, operand", FIGURES)
def test_the_tables_here_agree_with_the_figures(shape, operand):
    for lane, elements in FIGURES[shape, operand].items():
        assert table(shape, operand)[lane] == elements


def fragment(matrix, places, dtype):
    """(32, elements) of a matrix by a table."""
    return np.array([[matrix[place] for place in row] for row in places], dtype)


def bits16(values, kind: str):
    if kind == "f16":
        return values.astype(np.float16).view(np.uint16)
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


SHAPES = {"m16n8k16": (16, 8, 16), "m16n8k8": (16, 8, 8)}
LOADS = """.reg .b32 %t, %a<4>, %b<2>, %h<2>, %g<2>; .reg .f32 %c<4>, %d<4>; .reg .b64 %p;
mov.u32 %t, %tid.x;
"""


def load(parameter: int, registers: str, count: int, kind: str) -> str:
    names = ", ".join(f"{registers}{i}" for i in range(count))
    vector = f".v{count}.{kind} {{{names}}}" if count > 1 else f".{kind} {names}"
    return f"ld.param.u64 %p, [p{parameter}]; mad.wide.u32 %p, %t, {4 * count}, %p; ld.global{vector}, [%p];\n"


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("shape", SHAPES)
def test_mma(shape, kind):
    m, n, k = SHAPES[shape]
    generator = np.random.default_rng(0)
    a, b, c = (generator.integers(-8, 9, size).astype(np.float64) for size in ((m, k), (k, n), (m, n)))
    a_regs, b_regs = k // 4, k // 8
    listed = [
        "{" + ", ".join(f"{name}{i}" for i in range(count)) + "}"
        for name, count in (("%d", 4), ("%a", a_regs), ("%b", b_regs), ("%c", 4))
    ]
    body = (
        LOADS + load(0, "%a", a_regs, "b32") + load(1, "%b", b_regs, "b32") + load(2, "%c", 4, "f32")
        + f"mma.sync.aligned.{shape}.row.col.f32.{kind}.{kind}.f32 {', '.join(listed)};"
        + "ld.param.u64 %p, [p3]; mad.wide.u32 %p, %t, 16, %p; st.global.v4.f32 [%p], {%d0, %d1, %d2, %d3};"
    )  # fmt: skip
    arrays = [
        bits16(fragment(a, table(shape, "a"), np.float64), kind),
        bits16(fragment(b, table(shape, "b"), np.float64), kind),
        fragment(c, table("m16n8k16", "c"), np.float32),
        np.zeros((32, 4), np.float32),
    ]
    report = run(kernel(["u64"] * 4, body), arrays)
    assert (report.outputs[3] == fragment(a @ b + c, table("m16n8k16", "c"), np.float32)).all()
    assert report.counts.total()["mma_flop"] == 2 * m * n * k and report.clean


def test_mma_with_half_accumulators():
    generator = np.random.default_rng(1)
    a, b, c = (generator.integers(-4, 5, size).astype(np.float64) for size in ((16, 16), (16, 8), (16, 8)))
    body = (
        LOADS + load(0, "%a", 4, "b32") + load(1, "%b", 2, "b32") + load(2, "%h", 2, "b32")
        + "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%g0,%g1}, {%a0,%a1,%a2,%a3}, {%b0,%b1}, {%h0,%h1};"
        + "ld.param.u64 %p, [p3]; mad.wide.u32 %p, %t, 8, %p; st.global.v2.b32 [%p], {%g0, %g1};"
    )  # fmt: skip
    places = table("m16n8k16", "c")
    arrays = [
        fragment(a, table("m16n8k16", "a"), np.float16),
        fragment(b, table("m16n8k16", "b"), np.float16),
        fragment(c, places, np.float16),
        np.zeros((32, 4), np.float16),
    ]
    report = run(kernel(["u64"] * 4, body), arrays)
    assert (report.outputs[3] == fragment(a @ b + c, places, np.float16)).all()


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("transposed", [False, True])
def test_ldmatrix(count, transposed):
    """Lane i of the result holds row i / 4, columns 2 (i % 4) and the next, of each matrix; transposed with .trans."""
    rows = np.random.default_rng(2).permutation(32)
    data = np.arange(32 * 8, dtype=np.uint16)
    names = ", ".join(f"%r{i}" for i in range(count))
    body = f"""
    .reg .b32 %t, %x, %s, %r<4>; .reg .b64 %p; .reg .b32 %w<4>; mov.u32 %t, %tid.x; mov.u32 %s, box;
    ld.param.u64 %p, [p0]; mad.wide.u32 %p, %t, 16, %p; ld.global.v4.b32 {{%w0,%w1,%w2,%w3}}, [%p];
    mad.lo.u32 %x, %t, 16, %s; st.shared.v4.b32 [%x], {{%w0,%w1,%w2,%w3}}; bar.sync 0;
    ld.param.u64 %p, [p1]; mad.wide.u32 %p, %t, 4, %p; ld.global.b32 %x, [%p]; mad.lo.u32 %x, %x, 16, %s;
    ldmatrix.sync.aligned.m8n8.x{count}{".trans" if transposed else ""}.shared.b16 {{{names}}}, [%x];
    ld.param.u64 %p, [p2]; mad.wide.u32 %p, %t, {4 * count}, %p;
    {f"st.global.v{count}.b32 [%p], {{{names}}};" if count > 1 else "st.global.b32 [%p], %r0;"}"""
    ptx = kernel(["u64"] * 3, body, ".shared .align 16 .b8 box[512];")
    report = run(ptx, [data, rows.astype(np.uint32), np.zeros((32, count, 2), np.uint16)])
    for matrix, lane in itertools.product(range(count), range(32)):
        block = data.reshape(32, 8)[rows[8 * matrix : 8 * matrix + 8]]
        block = block.T if transposed else block
        row, column = lane // 4, 2 * (lane % 4)
        assert report.outputs[2][lane, matrix].tolist() == block[row, column : column + 2].tolist()
    assert report.clean and report.counts.total()["ldmatrix_executed"] == 1


def test_stmatrix_undoes_ldmatrix():
    body = """
    .reg .b32 %t, %s, %x, %r<4>, %w<4>; .reg .b64 %p; mov.u32 %t, %tid.x; mov.u32 %s, box;
    ld.param.u64 %p, [p0]; mad.wide.u32 %p, %t, 16, %p; ld.global.v4.b32 {%w0,%w1,%w2,%w3}, [%p];
    mad.lo.u32 %x, %t, 16, %s; st.shared.v4.b32 [%x], {%w0,%w1,%w2,%w3}; bar.sync 0;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0,%r1,%r2,%r3}, [%x];
    stmatrix.sync.aligned.m8n8.x4.shared.b16 [%x+512], {%r0,%r1,%r2,%r3}; bar.sync 0;
    ld.shared.v4.b32 {%w0,%w1,%w2,%w3}, [%x+512]; st.global.v4.b32 [%p], {%w3,%w2,%w1,%w0};"""
    data = np.arange(32 * 4, dtype=np.uint32).reshape(32, 4)
    report = run(kernel(["u64"], body, ".shared .align 16 .b8 box[1024];"), [data])
    assert report.clean and (report.outputs[0] == data[:, ::-1]).all()


def regs(name: str, count: int) -> str:
    return "{" + ", ".join(f"%{name}{i}" for i in range(count)) + "}"


WMMA_SHAPES = {"m16n16k16": (16, 16, 16), "m32n8k16": (32, 8, 16), "m8n32k16": (8, 32, 16)}


def stored(matrix, layout: str, stride: int, dtype):
    """A matrix in memory, its rows or columns `stride` elements apart, between them a number that must not matter."""
    lines = matrix if layout == "row" else matrix.T
    memory = np.full((lines.shape[0], stride), 77, dtype)
    memory[:, : lines.shape[1]] = lines
    return memory


def wmma_kernel(shape: str, a: str, b: str, c: str, space: str, result: str, accumulator: str, strides) -> str:
    """D = A B + C: A and B from `space`, C from global memory, D to global memory with the layout of C."""
    count = {"f32": 8, "f16": 4}
    kind = {"f32": "f32", "f16": "b32"}
    stage = ""
    addresses = "ld.param.u64 %pa, [p0]; ld.param.u64 %pb, [p1];"
    if space == "shared":
        stage = """mov.u64 %pa, box; add.u64 %pb, %pa, 4096; ld.param.u64 %q0, [p0]; ld.param.u64 %q1, [p1];
        mov.u32 %i, %t; loop: mul.wide.u32 %o, %i, 4; add.u64 %q2, %q0, %o; ld.global.b32 %x, [%q2];
        add.u64 %q2, %pa, %o; st.shared.b32 [%q2], %x; add.u64 %q2, %q1, %o; ld.global.b32 %x, [%q2];
        add.u64 %q2, %pb, %o; st.shared.b32 [%q2], %x; add.u32 %i, %i, 32; setp.lt.u32 %more, %i, 1024; @%more bra loop;
        bar.sync 0;"""
        addresses = ""
    return kernel(
        ["u64"] * 4,
        f"""
    .reg .b32 %t, %i, %x, %a<8>, %b<8>; .reg .b64 %pa, %pb, %pc, %o, %q<3>; .reg .pred %more;
    .reg .{kind[accumulator]} %c<8>; .reg .{kind[result]} %d<8>; mov.u32 %t, %tid.x; {addresses} {stage}
    wmma.load.a.sync.aligned.{a}.{shape}.{space}.f16 {regs("a", 8)}, [%pa], {strides[0]};
    wmma.load.b.sync.aligned.{b}.{shape}.{space}.f16 {regs("b", 8)}, [%pb], {strides[1]};
    ld.param.u64 %pc, [p2]; wmma.load.c.sync.aligned.{c}.{shape}.global.{accumulator} 
    {regs("c", count[accumulator])}, [%pc], {strides[2]};
    wmma.mma.sync.aligned.{a}.{b}.{shape}.{result}.{accumulator} 
    {regs("d", count[result])}, {regs("a", 8)}, {regs("b", 8)}, {regs("c", count[accumulator])};
    ld.param.u64 %pc, [p3];
    wmma.store.d.sync.aligned.{c}.{shape}.global.{result} [%pc], {regs("d", count[result])}, {strides[2]};""",
        ".shared .align 32 .b8 box[8192];",
    )


@pytest.mark.parametrize("space", ["shared", "global"])
@pytest.mark.parametrize("a_layout, b_layout, c_layout", list(itertools.product(("row", "col"), repeat=3)))
@pytest.mark.parametrize("shape", WMMA_SHAPES)
def test_wmma_layouts(shape, a_layout, b_layout, c_layout, space):
    check_wmma(shape, a_layout, b_layout, c_layout, space, "f32", "f32")


@pytest.mark.parametrize("result, accumulator", [("f16", "f16"), ("f32", "f16"), ("f16", "f32")])
@pytest.mark.parametrize("shape", WMMA_SHAPES)
def test_wmma_accumulators(shape, result, accumulator):
    for layout in ("row", "col"):
        check_wmma(shape, "row", "col", layout, "shared", result, accumulator)


def check_wmma(shape, a_layout, b_layout, c_layout, space, result, accumulator):
    m, n, k = WMMA_SHAPES[shape]
    generator = np.random.default_rng(4)
    a, b, c = (generator.integers(-4, 5, size).astype(np.float64) for size in ((m, k), (k, n), (m, n)))
    dtypes = {"f16": np.float16, "f32": np.float32}
    strides = [(each.shape[1] if layout == "row" else each.shape[0]) + 8 for each, layout in
               ((a, a_layout), (b, b_layout), (c, c_layout))]  # fmt: skip
    memory = [np.zeros(2048, np.float16) for _ in range(2)]
    for place, (matrix, layout) in enumerate(((a, a_layout), (b, b_layout))):
        flat = stored(matrix, layout, strides[place], np.float16).ravel()
        memory[place][: len(flat)] = flat
    given = stored(c, c_layout, strides[2], dtypes[accumulator])
    untouched = stored(np.zeros((m, n)), c_layout, strides[2], dtypes[result])
    ptx = wmma_kernel(shape, a_layout, b_layout, c_layout, space, result, accumulator, strides)
    report = run(ptx, [*memory, given, untouched])
    assert (report.outputs[3] == stored(a @ b + c, c_layout, strides[2], dtypes[result])).all()
    assert report.clean, report.hazards
    assert report.counts.total()["mma_flop"] == 2 * m * n * k


def test_an_accumulator_is_an_a_operand_in_place():
    """The seeds' in-register P: converting the accumulator's elements in order gives the fragment of a row-major A."""
    body = f"""
    .reg .b32 %a<8>, %b<8>, %e<8>; .reg .f32 %c<8>, %d<8>; .reg .b64 %p<4>;
    ld.param.u64 %p0, [p0]; ld.param.u64 %p1, [p1]; ld.param.u64 %p2, [p2];
    wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {regs("a", 8)}, [%p0], 16;
    wmma.load.b.sync.aligned.row.m16n16k16.global.f16 {regs("b", 8)}, [%p1], 16;
    {"".join(f"mov.f32 %c{i}, 0f00000000;" for i in range(8))}
    wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {regs("d", 8)}, {regs("a", 8)}, {regs("b", 8)}, {regs("c", 8)};
    {"".join(f"cvt.rn.f16x2.f32 %e{i}, %d{2 * i + 1}, %d{2 * i}; mov.b32 %e{i + 4}, %e{i};" for i in range(4))}
    wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {regs("d", 8)}, {regs("e", 8)}, {regs("b", 8)}, {regs("c", 8)};
    wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%p2], {regs("d", 8)}, 16;"""
    generator = np.random.default_rng(5)
    a, b = (generator.integers(-2, 3, (16, 16)).astype(np.float16) for _ in range(2))
    report = run(kernel(["u64"] * 3, body), [a, b, np.zeros((16, 16), np.float32)])
    assert (report.outputs[2] == a.astype(np.float64) @ b @ b).all()


def registers(*counts: int) -> str:
    """The operands d, a, b, c of an mma, d being c again."""
    return ", ".join(regs(name, count) for name, count in zip("cabc", counts))


def test_a_part_of_a_warp_is_a_hazard():
    multiply = f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {registers(4, 4, 2, 4)};"
    body = f""".reg .b32 %t, %a<4>, %b<2>; .reg .f32 %c<4>; .reg .pred %q; mov.u32 %t, %tid.x;
    setp.lt.u32 %q, %t, 16; @!%q bra skip; {multiply} skip:"""
    report = run(kernel(["u64"], body), [np.zeros(1)])
    assert kinds(report) == {hazards.SYNC} and report.hazards[0].lanes == tuple(range(16))


def test_matrix_addresses_must_agree_within_a_warp():
    body = f""".reg .b32 %t, %a<8>; .reg .b64 %p; mov.u32 %t, %tid.x; ld.param.u64 %p, [p0]; mad.wide.u32 %p, %t, 2, %p;
    wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {regs("a", 8)}, [%p], 16;"""
    assert hazards.UNIFORM in kinds(run(kernel(["u64"], body), [np.zeros(2048)]))


def test_unknown_shapes_and_types_are_refused():
    for statement in (
        f"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {registers(4, 2, 1, 4)};",
        f"mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32 {registers(4, 4, 2, 4)};",
        f"wmma.load.a.sync.aligned.row.m16n16k8.global.f16 {regs('a', 4)}, [%p], 16;",
    ):
        body = f".reg .b32 %a<4>, %b<2>; .reg .f32 %c<4>; .reg .b64 %p; {statement}"
        with pytest.raises(UnknownInstruction, match=statement.split()[0].replace(".", r"\.")):
            run(kernel(["u64"], body), [np.zeros(1)])
