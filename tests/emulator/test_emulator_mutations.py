"""Broken kernels: each is caught, and by the gate that should catch it. Correct variants: each is clean."""

from pathlib import Path

import numpy as np
import plain_kernels as plain
import pytest
from emulated_kernels import attention, gemm, gemm_shared_bytes, run_attention, run_gemm
from ptx_harness import kinds

from playground.emulator import emulate, hazards

PARITY = "parity"
TOLERANCE = 2e-3


def gates(report, error: float) -> set[str]:
    """What objects to a result: kinds of hazard, or parity."""
    return kinds(report) | ({PARITY} if not error < TOLERANCE else set())


GEMMS = {
    "no wait_group": (dict(wait=False), {}, hazards.ASYNC_READ),
    "wait_group loosened": (dict(pending=2), {}, hazards.ASYNC_READ),
    "last wait_group loosened": (dict(last_pending=1), {}, hazards.ASYNC_READ),
    "no commit_group": (dict(commit=False), {}, hazards.ASYNC_READ),
    "no barrier after the wait": (dict(first_barrier=False), {}, hazards.READ_AFTER_WRITE),
    "no barrier at the end of a step": (dict(last_barrier=False), dict(id=128), hazards.WRITE_AFTER_READ),
    "half the threads stage": (dict(stagers=64), {}, hazards.UNINITIALISED),
    "staging stride for twice the threads": (dict(stride=256), {}, hazards.UNINITIALISED),
    "+16 rows for +16 elements": (dict(second_half=16 * (32 + 8) * 2), {}, PARITY),
    "both operands row_major": (dict(b_row_major=True), {}, PARITY),
    "last k-half skipped": (dict(halves=1), {}, PARITY),
    "tile stride off by the pad": (dict(read_pad=0), {}, hazards.UNINITIALISED),
    "buffers never swapped": (dict(swap=False), {}, PARITY),
    "next tile staged over the current one": (dict(fill_next=False), {}, hazards.ASYNC_WRITE),
    "tail rows not masked": (dict(mask_rows=False), dict(nt=48), hazards.GLOBAL_BOUNDS),
    "tail stores not masked": (dict(mask_stores=False), dict(nt=48), hazards.GLOBAL_BOUNDS),
    "unsigned wrap in an offset": (dict(wrap=True), {}, hazards.GLOBAL_BOUNDS),
    "rows padded to 8 bytes": (dict(pad=4), {}, hazards.SHARED_ALIGNMENT),
    "too little shared memory": ({}, dict(shared_bytes=gemm_shared_bytes() - 32), hazards.SHARED_BOUNDS),
    "barrier for a part of the block": (dict(divergent_barrier=True), {}, hazards.BARRIER),
    "return before the barrier": (dict(early_return=True), {}, hazards.BARRIER),
    "mma for a part of the warp": (dict(divergent_mma=True), {}, hazards.SYNC),
    "two blocks for each tile": ({}, dict(grid=(1, 1, 2)), hazards.GLOBAL_WRITES),
}


@pytest.mark.parametrize("name", GEMMS)
def test_broken_gemm(name):
    choices, run, gate = GEMMS[name]
    report, error = run_gemm(gemm(**choices), pad=choices.get("pad", 8), **run)
    assert gate in gates(report, error)


ATTENTIONS = {
    "no wait_group": (dict(wait=False), hazards.ASYNC_READ),
    "no barrier after the wait": (dict(first_barrier=False), hazards.READ_AFTER_WRITE),
    "no barrier at the end of a step": (dict(last_barrier=False), hazards.WRITE_AFTER_READ),
    "contiguous masks": (dict(contiguous_mask=True), PARITY),
    "V not transposed": (dict(transpose=False), PARITY),
    "sums not rescaled": (dict(rescale=False), PARITY),
    "mask one column late": (dict(causal=1), PARITY),
    "maximum of two lanes only": (dict(butterfly_steps=1), PARITY),
    "tail rows not masked": (dict(mask_rows=False), hazards.GLOBAL_BOUNDS),
    "staging stride for twice the threads": (dict(stride=256), hazards.UNINITIALISED),
}


@pytest.mark.parametrize("name", ATTENTIONS)
def test_broken_attention(name):
    choices, gate = ATTENTIONS[name]
    report, error = run_attention(attention(**choices), nt=100)
    assert gate in gates(report, error)
    if gate == PARITY:
        assert report.clean


def sum_of(kernel, size=1000, grid=3):
    x, out = np.random.default_rng(0).random(size, np.float32), np.zeros(1, np.float32)
    return emulate(kernel, grid, plain.BLOCK, x, out), abs(out[0] - x.astype(np.float64).sum()) / size


def transposed(kernel, tile=16):
    x = np.random.default_rng(0).random((2 * tile, 3 * tile), np.float32)
    y = np.zeros((3 * tile, 2 * tile), np.float32)
    return emulate(kernel, (3, 2), (tile, tile), x, y), np.abs(y - x.T).max()


def counted(kernel):
    x, counts = np.random.default_rng(0).integers(0, plain.BLOCK, 300).astype(np.int32), np.zeros(plain.BLOCK, np.int32)
    report = emulate(kernel, 5, plain.BLOCK, x, counts)
    return report, np.abs(counts - np.bincount(x, minlength=plain.BLOCK)).max()


def stencilled(kernel, size=256):
    x, y = np.arange(size, dtype=np.float32), np.zeros(size, np.float32)
    report = emulate(kernel, -(-size // plain.BLOCK), plain.BLOCK, x, y)
    return report, np.abs(y[1:-1] - 2 * np.arange(1, size - 1)).max()


def multiplied(kernel, tile=8):
    generator = np.random.default_rng(0)
    a, b = generator.random((2 * tile, 4 * tile), np.float32), generator.random((4 * tile, 3 * tile), np.float32)
    c = np.zeros((2 * tile, 3 * tile), np.float32)
    report = emulate(kernel, (3, 2), (tile, tile), a, b, c)
    return report, np.abs(c - a.astype(np.float64) @ b).max()


def reversed_blocks(kernel, size=256, **options):
    x, y = np.random.default_rng(0).random(size, np.float32), np.zeros(size, np.float32)
    report = emulate(kernel, -(-size // plain.BLOCK), plain.BLOCK, x, y, **options)
    whole = size // plain.BLOCK * plain.BLOCK
    expected = x[:whole].reshape(-1, plain.BLOCK)[:, ::-1].ravel()
    return report, np.abs(y[:whole] - expected).max(initial=0)


PLAIN = {
    "sum: no barrier before the tree": (sum_of, plain.block_sum, dict(first_barrier=False), hazards.READ_AFTER_WRITE),
    "sum: no barrier in the tree": (sum_of, plain.block_sum, dict(loop_barrier=False), hazards.READ_AFTER_WRITE),
    "sum: blocks add without an atomic": (sum_of, plain.block_sum, dict(atomic=False), hazards.GLOBAL_WRITES),
    "transpose: no barrier": (transposed, plain.transpose, dict(barrier=False), hazards.READ_AFTER_WRITE),
    "transpose: reads a row too far": (transposed, plain.transpose, dict(shift=1), hazards.SHARED_BOUNDS),
    "histogram: not cleared": (counted, plain.histogram, dict(clear=False), hazards.UNINITIALISED),
    "histogram: no barrier after clearing": (counted, plain.histogram, dict(barrier=False), hazards.WRITE_AFTER_WRITE),
    "histogram: not atomic": (counted, plain.histogram, dict(atomic=False), hazards.WRITE_AFTER_WRITE),
    "stencil: ends not masked": (stencilled, plain.stencil, dict(masked=False), hazards.GLOBAL_BOUNDS),
    "stencil: in place": (stencilled, plain.stencil, dict(in_place=True), hazards.GLOBAL_READ),
    "matmul: no barrier after staging": (multiplied, plain.matmul, dict(first_barrier=False), hazards.READ_AFTER_WRITE),
    "matmul: no barrier before restaging": (
        multiplied,
        plain.matmul,
        dict(last_barrier=False),
        hazards.WRITE_AFTER_READ,
    ),
    "reverse: barrier for a part": (reversed_blocks, plain.reverse, dict(divergent=True), hazards.BARRIER),
}


@pytest.mark.parametrize("name", PLAIN)
def test_broken_plain_kernel(name):
    run, factory, choices, gate = PLAIN[name]
    report, error = run(factory(**choices))
    assert gate in gates(report, error)


def test_threads_that_return_before_a_barrier():
    report, _ = reversed_blocks(plain.reverse(early_return=True), size=100)
    assert hazards.BARRIER in kinds(report) and "28 threads" in report.hazards[0].detail


def test_a_hazard_says_where_and_how_to_mend_it():
    report, _ = transposed(plain.transpose(barrier=False))
    (hazard,) = report.hazards
    line = Path(plain.__file__).read_text().splitlines()[hazard.line - 1]
    assert hazard.file == plain.__file__ and "shared[column + shift, row]" in line
    assert "ld.shared" in hazard.instruction and "st.shared" in hazard.detail
    assert hazard.block == (0, 0, 0) and hazard.warp == 0 and hazard.lanes and hazard.count > 0
    assert "barrier" in hazard.fix and f"{hazard.line}: shared read-after-write race" in str(hazard)


CORRECT = [
    *(("gemm", dict(ks=ks, pad=pad), {}) for ks in (32, 64) for pad in (0, 8)),
    *(("gemm", {}, dict(nt=nt, od=od, id=id)) for nt, od, id in
      ((16, 64, 32), (48, 80, 96), (64, 64, 160), (80, 16, 64), (128, 128, 128), (144, 64, 32))),
    ("gemm", dict(pending=0), dict(id=96)),
    ("gemm", dict(ks=64, pad=8, halves=4), dict(id=192)),
    *(("attention", {}, dict(nt=nt)) for nt in (1, 33, 64, 65, 130, 200)),
    ("attention", dict(keys=64), dict(nt=100)),
    ("attention", dict(hd=128), dict(nt=70)),
]  # fmt: skip
CORRECT_PLAIN = [
    *((sum_of, plain.block_sum, {}, dict(size=size, grid=grid)) for size, grid in ((64, 1), (1000, 3), (37, 2))),
    (transposed, plain.transpose, {}, {}),
    (transposed, plain.transpose, dict(pad=0), {}),
    (transposed, plain.transpose, dict(tile=32), dict(tile=32)),
    (counted, plain.histogram, {}, {}),
    (stencilled, plain.stencil, {}, {}),
    (stencilled, plain.stencil, {}, dict(size=100)),
    (multiplied, plain.matmul, {}, {}),
    (multiplied, plain.matmul, dict(tile=16), dict(tile=16)),
    (reversed_blocks, plain.reverse, {}, {}),
    (reversed_blocks, plain.reverse, dict(early_return=True), dict(size=256)),
    (reversed_blocks, plain.reverse, dict(dynamic=True), dict(shared_bytes=4 * plain.BLOCK)),
]


@pytest.mark.parametrize("kernel, choices, shape", CORRECT, ids=str)
def test_correct_project_kernel(kernel, choices, shape):
    if kernel == "gemm":
        report, error = run_gemm(
            gemm(**choices), **{"ks": choices.get("ks", 32), "pad": choices.get("pad", 8), **shape}
        )
    else:
        extra = {name: choices[name] for name in ("hd", "keys") if name in choices}
        report, error = run_attention(attention(**choices), **shape, **extra)
    assert gates(report, error) == set(), report.hazards


@pytest.mark.parametrize("run, factory, choices, shape", CORRECT_PLAIN)
def test_correct_plain_kernel(run, factory, choices, shape):
    report, error = run(factory(**choices), **shape)
    assert gates(report, error) == set(), report.hazards


def test_there_are_enough_of_both():
    assert len(GEMMS) + len(ATTENTIONS) + len(PLAIN) >= 25
    assert len(CORRECT) + len(CORRECT_PLAIN) >= 25
