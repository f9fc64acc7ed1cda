"""Kernels to emulate, written with the project's intrinsics: each right as it stands, and wrong in one named way.

`gemm` multiplies as the seeds do: two buffers filled by cp.async, wmma m16n16k16. `attention` is causal, with mma.sync,
ldmatrix and shuffles, its softmax in registers.
"""

import functools
import math

import numpy as np
from numba import cuda
from numba.cuda import types

from playground.compiler.numba_ptx import address_signature, to_ptx
from playground.emulator import GlobalMemory, launch
from playground.ptx import cp_async, wmma
from playground.ptx._instruction import Fragment, instruction
from playground.ptx.convert import pack_f16x2
from playground.ptx.exponential import exp2
from playground.ptx.memory import shared_address, store_global_f32
from playground.ptx.shuffle import butterfly

float32, int64, uint8, uint32 = types.float32, types.int64, types.uint8, types.uint32

TILE, HALF, FLOAT = 64, 2, 4
GEMM_THREADS = ATTENTION_THREADS = 128
KS, PAD = 32, 8


@instruction("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [{address}], {accumulator}, {stride};")
def store_tile(address: int64, accumulator: Fragment(float32, 8, read=True), stride: uint32):
    """Store a 16×16 accumulator to global memory."""


@instruction("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {registers}, [{address}];")
def ldmatrix_x4(registers: Fragment(uint32, 4, written=True), address: uint32):
    """Load four 8×8 matrices."""


@instruction("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {registers}, [{address}];")
def ldmatrix_x2(registers: Fragment(uint32, 2, written=True), address: uint32):
    """Load two 8×8 matrices."""


@instruction("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {registers}, [{address}];")
def ldmatrix_x2_trans(registers: Fragment(uint32, 2, written=True), address: uint32):
    """Load two 8×8 matrices, transposed."""


@instruction(
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {sums}, {a}, {b}, {sums};", touches_memory=False
)  # fmt: skip
def mma(
    sums: Fragment(float32, 4, read=True, written=True),
    a: Fragment(uint32, 4, read=True),
    b: Fragment(uint32, 2, read=True),
):
    """sums += a · b."""


@functools.cache
def gemm(
    ks=KS, pad=PAD, pending=1, last_pending=0, commit=True, wait=True, first_barrier=True, last_barrier=True,
    stagers=GEMM_THREADS, stride=GEMM_THREADS, second_half=16 * HALF, b_row_major=False, halves=None, read_pad=None,
    swap=True, fill_next=True, mask_rows=True, wrap=False, divergent_barrier=False, early_return=False,
    divergent_mma=False, mask_stores=True,
):  # fmt: skip
    """C[nt, od] = A[nt, id] · B[od, id]ᵀ in tiles of 64 × 64, 4 warps of 32 × 32; nt, od multiples of 16, id of ks.

    The PTX; parameters: A, B, C, nt, od, id. Every argument from `pending` on is a way to go wrong.
    """
    ROW, READ = (ks + pad) * HALF, (ks + (pad if read_pad is None else read_pad)) * HALF
    BUFFER = TILE * ROW
    CHUNKS = ks * HALF // 16
    ROUNDS = TILE * CHUNKS // GEMM_THREADS
    HALVES = ks // 16 if halves is None else halves
    stored_stride = READ // HALF
    load_b = wmma.load_b_row if b_row_major else wmma.load_b_col
    multiply = wmma.mma_row_row if b_row_major else wmma.mma_row_col

    @cuda.jit(device=True, forceinline=True, lineinfo=True)
    def stage(shared, source, first, rows, k, id):
        thread = cuda.threadIdx.x
        if thread < stagers:
            for j in range(ROUNDS):
                chunk = thread + j * stride
                row = (chunk // CHUNKS) % TILE
                part = chunk % CHUNKS
                inside = first + row < rows or not mask_rows
                offset = (first + row) * id + k + part * 8
                if wrap:
                    offset = int64(uint32(offset - 8 * id)) + 8 * id
                bytes = 16 if inside else 0
                cp_async.copy_16(shared + row * ROW + part * 16, source + offset * HALF, bytes)

    def kernel(A, B, C, nt, od, id):
        shared = shared_address(cuda.shared.array(0, uint8))
        n0, m0 = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
        warp = cuda.threadIdx.x >> 5
        a = cuda.local.array(8, uint32)
        b = cuda.local.array(8, uint32)
        c = cuda.local.array((2, 2, 8), float32)
        for i in range(2):
            for j in range(2):
                wmma.fill(c[i, j], 0)
        steps = id // ks
        stage(shared, A, n0, nt, 0, id)
        stage(shared + 2 * BUFFER, B, m0, od, 0, id)
        if commit:
            cp_async.commit()
        if early_return and cuda.threadIdx.x >= 96:
            return
        for step in range(steps):
            buffer = (step & 1) if swap else 0
            if step + 1 < steps:
                filled = (buffer ^ 1) if fill_next else buffer
                stage(shared + filled * BUFFER, A, n0, nt, (step + 1) * ks, id)
                stage(shared + (2 + filled) * BUFFER, B, m0, od, (step + 1) * ks, id)
                if commit:
                    cp_async.commit()
                if wait:
                    cp_async.wait_group(pending)
            elif wait:
                cp_async.wait_group(last_pending)
            if first_barrier:
                if divergent_barrier:
                    if cuda.threadIdx.x < 80:
                        cuda.syncthreads()
                else:
                    cuda.syncthreads()
            As = shared + buffer * BUFFER + (warp >> 1) * 32 * READ
            Bs = shared + (2 + buffer) * BUFFER + (warp & 1) * 32 * READ
            for h in range(HALVES):
                for i in range(2):
                    wmma.load_a_row(a, As + i * 16 * READ + h * 16 * HALF, stored_stride)
                    for j in range(2):
                        load_b(b, Bs + j * 16 * READ + h * second_half, stored_stride)
                        if divergent_mma:
                            if cuda.threadIdx.x & 31 < 20:
                                multiply(c[i, j], a, b)
                        else:
                            multiply(c[i, j], a, b)
            if last_barrier:
                cuda.syncthreads()
        for i in range(2):
            for j in range(2):
                n = n0 + (warp >> 1) * 32 + i * 16
                m = m0 + (warp & 1) * 32 + j * 16
                if (n < nt and m < od) or not mask_stores:
                    store_tile(C + (n * od + m) * FLOAT, c[i, j], od)

    return to_ptx(kernel, address_signature(3, 3), (9, 0), GEMM_THREADS)


def gemm_shared_bytes(ks=KS, pad=PAD) -> int:
    return 4 * TILE * (ks + pad) * HALF


def run_gemm(ptx, nt=64, od=64, id=64, ks=KS, pad=PAD, shared_bytes=None, grid=None, **options):
    """(report, largest error against float64)."""
    generator = np.random.default_rng(0)
    a, b = (generator.standard_normal(shape).astype(np.float16) for shape in ((nt, id), (od, id)))
    memory = GlobalMemory()
    addresses = [memory.place(each) for each in (a, b, np.full((nt, od), np.nan, np.float32))]
    grid = grid or (-(-od // TILE), -(-nt // TILE))
    shared = gemm_shared_bytes(ks, pad) if shared_bytes is None else shared_bytes
    report = launch(ptx, grid, GEMM_THREADS, [*addresses, nt, od, id], memory, shared, **options)
    return report, error(report.outputs[2], a.astype(np.float64) @ b.astype(np.float64).T)


def error(got, expected) -> float:
    """The largest difference; infinite if anything is not a number."""
    return float(np.abs(np.where(np.isfinite(got), got, np.inf) - expected).max())


@functools.cache
def attention(
    hd=64, wait=True, first_barrier=True, last_barrier=True, contiguous_mask=False, transpose=True, rescale=True,
    causal=0, butterfly_steps=2, mask_rows=True, stride=ATTENTION_THREADS, keys=32,
):  # fmt: skip
    """Causal attention of one head: O[nt, hd] f32 from Q, K, V [nt, hd] f16, 64 queries per block, `keys` per step.

    The PTX; parameters: Q, K, V, O, nt. Every argument from `wait` to `stride` is a way to go wrong.
    """
    ROW = (hd + 8) * HALF
    CHUNKS = hd * HALF // 16
    QUERY_BYTES, KEY_BYTES = TILE * ROW, keys * ROW
    FRAGMENTS, OUTPUTS, STEPS = keys // 8, hd // 8, hd // 16
    SCALE = math.log2(math.e) / math.sqrt(hd)

    @cuda.jit(device=True, forceinline=True, lineinfo=True)
    def stage(shared, source, first, rows, count):
        for j in range(count * CHUNKS // ATTENTION_THREADS):
            chunk = cuda.threadIdx.x + j * stride
            row = chunk // CHUNKS % count
            part = chunk % CHUNKS
            bytes = 16 if first + row < rows or not mask_rows else 0
            cp_async.copy_16(shared + row * ROW + part * 16, source + ((first + row) * hd + part * 8) * HALF, bytes)

    def kernel(Q, K, V, O, nt):
        shared = shared_address(cuda.shared.array(0, uint8))
        Ks, Vs = shared + QUERY_BYTES, shared + QUERY_BYTES + KEY_BYTES
        lane, warp = cuda.threadIdx.x & 31, cuda.threadIdx.x >> 5
        q0 = cuda.blockIdx.x * TILE
        a = cuda.local.array(4, uint32)
        b = cuda.local.array(2, uint32)
        s = cuda.local.array((FRAGMENTS, 4), float32)
        o = cuda.local.array((OUTPUTS, 4), float32)
        highest = cuda.local.array(2, float32)
        total = cuda.local.array(2, float32)
        for i in range(OUTPUTS):
            for e in range(4):
                o[i, e] = float32(0)
        for half in range(2):
            highest[half] = float32(-1e30)
            total[half] = float32(0)
        stage(shared, Q, q0, nt, TILE)
        last = min(nt, q0 + TILE)
        for k0 in range(0, last, keys):
            stage(Ks, K, k0, nt, keys)
            stage(Vs, V, k0, nt, keys)
            cp_async.commit()
            if wait:
                cp_async.wait_group(0)
            if first_barrier:
                cuda.syncthreads()
            for i in range(FRAGMENTS):
                for e in range(4):
                    s[i, e] = float32(0)
            for step in range(STEPS):
                ldmatrix_x4(a, shared + (warp * 16 + (lane & 15)) * ROW + step * 32 + (lane >> 4) * 16)
                for i in range(FRAGMENTS):
                    ldmatrix_x2(b, Ks + (i * 8 + (lane & 7)) * ROW + step * 32 + ((lane >> 3) & 1) * 16)
                    mma(s[i], a, b)
            for half in range(2):
                row = q0 + warp * 16 + (lane >> 2) + 8 * half
                peak = highest[half]
                for i in range(FRAGMENTS):
                    for e in range(2):
                        column = k0 + i * 8 + (e * 4 + (lane & 3) if contiguous_mask else 2 * (lane & 3) + e)
                        score = s[i, 2 * half + e] * float32(SCALE)
                        if column > row + causal or column >= nt:
                            score = float32(-1e30)
                        s[i, 2 * half + e] = score
                        peak = max(peak, score)
                for step in range(butterfly_steps):
                    peak = max(peak, butterfly(peak, 1 << step))
                scale = exp2(highest[half] - peak)
                highest[half] = peak
                added = float32(0)
                for i in range(FRAGMENTS):
                    for e in range(2):
                        p = exp2(s[i, 2 * half + e] - peak)
                        s[i, 2 * half + e] = p
                        added += p
                for step in range(2):
                    added += butterfly(added, 1 << step)
                total[half] = total[half] * scale + added
                if rescale:
                    for i in range(OUTPUTS):
                        for e in range(2):
                            o[i, 2 * half + e] *= scale
            for step in range(keys // 16):
                for r in range(4):
                    i = 2 * step + (r >> 1)
                    a[r] = pack_f16x2(s[i, 2 * (r & 1)], s[i, 2 * (r & 1) + 1])
                for i in range(OUTPUTS):
                    at = Vs + (step * 16 + (lane & 15)) * ROW + i * 16
                    if transpose:
                        ldmatrix_x2_trans(b, at)
                    else:
                        ldmatrix_x2(b, at)
                    mma(o[i], a, b)
            if last_barrier:
                cuda.syncthreads()
        for half in range(2):
            row = q0 + warp * 16 + (lane >> 2) + 8 * half
            if row < nt:
                for i in range(OUTPUTS):
                    for e in range(2):
                        at = O + (row * hd + i * 8 + 2 * (lane & 3) + e) * FLOAT
                        store_global_f32(at, o[i, 2 * half + e] / total[half])

    return to_ptx(kernel, address_signature(4, 1), (9, 0), ATTENTION_THREADS)


def run_attention(ptx, nt=64, hd=64, keys=32, **options):
    """(report, largest error against float64)."""
    generator = np.random.default_rng(0)
    q, k, v = (generator.standard_normal((nt, hd)).astype(np.float16) for _ in range(3))
    memory = GlobalMemory()
    addresses = [memory.place(each) for each in (q, k, v, np.full((nt, hd), np.nan, np.float32))]
    shared = (TILE + 2 * keys) * (hd + 8) * HALF
    report = launch(ptx, -(-nt // TILE), ATTENTION_THREADS, [*addresses, nt], memory, shared, **options)
    scores = q.astype(np.float64) @ k.astype(np.float64).T / math.sqrt(hd)
    scores[np.triu_indices(nt, 1)] = -np.inf
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return report, error(report.outputs[3], weights / weights.sum(1, keepdims=True) @ v.astype(np.float64))
