"""The GEMM of the seeds: C[nt, od] = A[nt, id] · B[od, id]ᵀ, f16 in, f32 accumulation and out.

Each block computes a TN × TM tile of C (TN = 64 rows of A, TM rows of B) in steps of KS along id. Both tiles of a step
are staged in shared memory by cp.async, in two buffers: one is multiplied while the other fills. The warps stand 2 × n
over the tile; each holds 32 rows × TM/n columns of C as wmma fragments in registers. Source: seed 000, §2.1 and §3.

With AF32, A arrives as f32 and becomes f16 on its way into shared memory (see af32).
"""

from dataclasses import replace

from numba import cuda
from numba.cuda import types

from playground.errors import Refusal
from playground.kernels.af32 import SCHEMES, arrival, with_mirror
from playground.kernels.contract import Contract, Tensor
from playground.kernels.kernel import Kernel
from playground.kernels.layout import ALIGNMENT, Region
from playground.kernels.parameters import check_choice, check_whole
from playground.kernels.staging import STAGING
from playground.ptx import wmma
from playground.ptx.device_function import device_function
from playground.ptx.integer import udiv
from playground.ptx.memory import load_shared_f32, shared_address, store_global_f32

TN = 64
FRAGMENT = 16
WARP_ROWS = 2
HALF, FLOAT = 2, 4
REGISTERS = wmma.REGISTERS

float32, uint8, uint32 = types.float32, types.uint8, types.uint32

GEMM_NT = Contract(
    name="gemm_nt",
    tensors=(
        Tensor("A", "float16", ("nt", "id")),
        Tensor("B", "float16", ("od", "id")),
        Tensor("C", "float32", ("nt", "od"), written=True),
    ),
    dimensions=("nt", "od", "id"),
    flop=lambda nt, od, id: 2 * nt * od * id,
    emulated=({"nt": 65, "od": 264, "id": 136}, {"nt": 128, "od": 256, "id": 512}),
    complaint=lambda nt, od, id: f"id = {id} is not a multiple of 8" if id % 8 else None,
)

GEMM_AF32_NT = replace(
    GEMM_NT, name="gemm_af32_nt", tensors=(Tensor("A", "float32", ("nt", "id")), *GEMM_NT.tensors[1:])
)
"""The same with A in f32, which is rounded to f16 before it is multiplied."""


def gemm_f16_nt(
    TM: int = 128,
    KS: int = 32,
    warps: int | None = None,
    pad: int = 0,
    staging: str = "async",
    AF32: str = "none",
    order: str = "nt",
) -> Kernel:
    """A kernel for C[nt, od] f32 = A[nt, id] f16 · B[od, id]ᵀ f16; id % 8 == 0, tails in all three masked.

    TM: columns of C per block, a multiple of 64. KS: elements of id per step, a multiple of 32. warps: if not given, 16
    for multiples of 128 above 128 and otherwise 8, as in the source. pad: halves added to each row of the staged tiles,
    a multiple of 8. staging: "async" (cp.async) or "sync" (loads and stores, for architectures before sm_80). AF32: if
    not "none", A is f32 and rounded on the way: "sync" (when it is loaded) or "mirror" (from shared memory). order:
    "nt" or "od", the dimension along which blocks follow one another.
    """
    if warps is None:
        check_whole("gemm_f16_nt", TM=TM)
        warps = 16 if TM > 128 and TM % 128 == 0 else 8
    _check(TM, KS, warps, pad, staging, AF32, order)
    threads = 32 * warps
    warp_columns = TM // (warps // WARP_ROWS)
    warp_rows = TN // WARP_ROWS
    row_fragments, ODC = warp_rows // FRAGMENT, warp_columns // FRAGMENT

    layout = with_mirror(
        AF32,
        KS,
        Region("A", (2, TN, KS + pad), HALF),
        Region("B", (2, TM, KS + pad), HALF),
        Region("C", (warps, FRAGMENT, FRAGMENT), FLOAT),
    )
    A_OFFSET, B_OFFSET, C_OFFSET = layout["A"].offset, layout["B"].offset, layout["C"].offset
    A_BUFFER, ROW, _ = layout["A"].strides
    B_BUFFER = layout["B"].strides[0]
    WARP_TILE = layout["C"].strides[0]

    copies_a, copies_b = (STAGING[staging](rows, KS, ROW, threads) for rows in (TN, TM))
    arriving = arrival(AF32, copies_a, layout, KS, threads)
    stage_a, convert_a, (A_LANDS, A_LANDS_BUFFER) = arriving.stage, arriving.convert, arriving.lands
    stage_b, commit, wait = copies_b.stage, copies_a.commit, copies_a.wait_0

    multiply = multiply_tiles(KS, row_fragments, ODC, ROW)
    tile_of_block = ORDERS[order]

    def gemm_f16_nt(A, B, C, nt, od, id):
        shared = shared_address(cuda.shared.array(0, uint8, alignment=ALIGNMENT))
        row_tile, column_tile = tile_of_block()
        n0 = row_tile * TN
        m0 = column_tile * TM
        warp = cuda.threadIdx.x >> 5
        warp_row = warp & 1
        warp_column = warp >> 1
        As = shared + A_OFFSET + warp_row * warp_rows * ROW
        Bs = shared + B_OFFSET + warp_column * warp_columns * ROW

        fa = cuda.local.array((row_fragments, REGISTERS), uint32)
        fb = cuda.local.array(REGISTERS, uint32)
        fc = cuda.local.array((row_fragments, ODC, REGISTERS), float32)
        for i in range(row_fragments):
            for oc in range(ODC):
                wmma.fill(fc[i, oc], 0)

        stage_a(shared + A_LANDS, A, n0, nt, 0, id)
        stage_b(shared + B_OFFSET, B, m0, od, 0, id)
        commit()
        steps = udiv(id + KS - 1, KS)
        for step in range(steps):
            buffer = step & 1
            wait()
            convert_a(shared + A_OFFSET + buffer * A_BUFFER, shared + A_LANDS)
            cuda.syncthreads()
            if step + 1 < steps:
                stage_a(shared + A_LANDS + (buffer ^ 1) * A_LANDS_BUFFER, A, n0, nt, (step + 1) * KS, id)
                stage_b(shared + B_OFFSET + (buffer ^ 1) * B_BUFFER, B, m0, od, (step + 1) * KS, id)
                commit()
            multiply(As + buffer * A_BUFFER, Bs + buffer * B_BUFFER, fa, fb, fc)

        scratch = shared + C_OFFSET + warp * WARP_TILE
        n = n0 + warp_row * warp_rows
        m = m0 + warp_column * warp_columns
        for i in range(row_fragments):
            for oc in range(ODC):
                store_fragment(scratch, fc[i, oc], C, n + i * FRAGMENT, m + oc * FRAGMENT, nt, od)

    parameters = {"TM": TM, "KS": KS, "warps": warps, "pad": pad, "staging": staging}
    return Kernel(
        name="gemm_f16_nt",
        parameters=parameters | _named_if_not_default(AF32=AF32, order=order),
        contract=GEMM_NT if AF32 == "none" else GEMM_AF32_NT,
        function=gemm_f16_nt,
        threads=threads,
        grid=lambda nt, od, id: (*(-(-nt // TN), -(-od // TM))[:: 1 if order == "nt" else -1], 1),
        layout=layout,
        minimum_cc=copies_a.minimum_cc,
        alignment={"A": 16, "B": 16},
        period={"nt": TN, "od": TM, "id": 2 * KS},  # the two buffers, by which NVVM unrolls where TM = 64
    )


@device_function
def along_nt():
    """Blocks that follow one another read the same rows of B, and find them in L2."""
    return cuda.blockIdx.x, cuda.blockIdx.y


@device_function
def along_od():
    """Blocks that follow one another read the same rows of A."""
    return cuda.blockIdx.y, cuda.blockIdx.x


ORDERS = {"nt": along_nt, "od": along_od}


def multiply_tiles(KS: int, row_fragments: int, column_fragments: int, row_bytes: int):
    """A device function: `multiply(As, Bs, fa, fb, fc)`: fc += A tile · B tileᵀ, for one warp's fragments.

    As and Bs: the warp's first rows in shared memory, row_bytes apart. fa, fb, fc: local arrays of fragments.
    """
    stride = row_bytes // HALF

    @device_function
    def multiply(As, Bs, fa, fb, fc):
        for k in range(KS // FRAGMENT):
            for i in range(row_fragments):
                wmma.load_a_row(fa[i], As + i * FRAGMENT * row_bytes + k * FRAGMENT * HALF, stride)
            for oc in range(column_fragments):
                # B is row-major [od, id], which is Bᵀ column-major: along id the offset is elements, never rows.
                wmma.load_b_col(fb, Bs + oc * FRAGMENT * row_bytes + k * FRAGMENT * HALF, stride)
                for i in range(row_fragments):
                    wmma.mma_row_col(fc[i, oc], fa[i], fb)

    return multiply


@device_function
def store_fragment(scratch, accumulator, C, n, m, nt, od):
    """Write a 16×16 fragment to C[n:, m:] where that is inside, by way of this warp's scratch tile in shared memory."""
    wmma.store_shared(scratch, accumulator, FRAGMENT)
    cuda.syncwarp()
    lane = cuda.threadIdx.x & 31
    for part in range(FRAGMENT * FRAGMENT // 32):
        element = part * 32 + lane
        row = n + (element >> 4)
        column = m + (element & 15)
        if row < nt and column < od:
            store_global_f32(C + (row * od + column) * FLOAT, load_shared_f32(scratch + element * FLOAT))
    cuda.syncwarp()


def _named_if_not_default(**given):
    """By its default a kernel keeps the name that it has in records from before there was anything else."""
    defaults = {"AF32": "none", "order": "nt"}
    return {name: value for name, value in given.items() if value != defaults[name]}


def _check(TM, KS, warps, pad, staging, AF32, order):
    check_whole("gemm_f16_nt", TM=TM, KS=KS, warps=warps, pad=pad)
    check_choice("gemm_f16_nt", "staging", staging, tuple(STAGING))
    check_choice("gemm_f16_nt", "AF32", AF32, SCHEMES)
    check_choice("gemm_f16_nt", "order", order, tuple(ORDERS))
    if (AF32, staging) == ("mirror", "sync"):
        raise Refusal("gemm_f16_nt: AF32 = mirror is filled by cp.async, which staging = sync does without")
    columns = WARP_ROWS * TM // warps if warps else 0
    if TM < 64 or TM % 64:
        raise Refusal(f"gemm_f16_nt: TM = {TM} is not a positive multiple of 64")
    if KS < 32 or KS % 32:
        raise Refusal(f"gemm_f16_nt: KS = {KS} is not a positive multiple of 32")
    if pad < 0 or pad % 8:
        raise Refusal(f"gemm_f16_nt: pad = {pad} is not a multiple of 8 halves (16 bytes, what cp.async aligns to)")
    if warps < 2 or warps % 2 or warps > 32 or TM % (warps // WARP_ROWS * FRAGMENT):
        raise Refusal(
            f"gemm_f16_nt: {warps} warps over TM = {TM} leave {columns:g} columns to each of {warps // 2} warp columns:"
            f" warps must be even, 2 to 32, and the columns a multiple of {FRAGMENT}"
        )
