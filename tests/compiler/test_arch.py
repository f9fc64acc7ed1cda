"""The table of GPUs, and blocks per SM against the CUDA guide's figures, the seeds and NVIDIA's own calculator.

The calculator is `cuda_occupancy.h`, which comes with the CUDA runtime: it is what the driver computes.
"""

import ctypes
import itertools
import shutil
import subprocess
from pathlib import Path

import pytest

from playground.compiler.arch import ARCHS, GPUS, arch_named, residency
from playground.errors import Refusal

GB10, H200, RTX_4090, RTX_3090 = (GPUS[name].arch for name in ("GB10", "H200", "RTX 4090", "RTX 3090"))

GUIDE = {
    # CUDA C++ Programming Guide, technical specifications per compute capability:
    # threads per SM, blocks per SM, shared memory per SM and per block (KiB)
    "sm_75": (1024, 16, 64, 64),
    "sm_80": (2048, 32, 164, 163),
    "sm_86": (1536, 16, 100, 99),
    "sm_89": (1536, 24, 100, 99),
    "sm_90": (2048, 32, 228, 227),
    "sm_100": (2048, 32, 228, 227),
    "sm_120": (1536, 24, 100, 99),
    "sm_121": (1536, 24, 100, 99),
}


@pytest.mark.parametrize("name", ARCHS)
def test_an_architecture_has_the_limits_of_the_cuda_guide(name):
    arch = ARCHS[name]
    threads, blocks, per_sm, per_block = GUIDE[name]
    assert (arch.threads_per_sm, arch.blocks_per_sm) == (threads, blocks)
    assert (arch.shared_per_sm, arch.shared_per_block) == (1024 * per_sm, 1024 * per_block)
    assert arch.name == name


def test_gb10_is_the_machine_of_the_seeds():
    """H200.md: sm_121, 48 SMs, 100 KB of shared memory per SM, 99 KB per block, 273 GB/s."""
    gpu = GPUS["GB10"]
    assert (gpu.arch.name, gpu.sms) == ("sm_121", 48)
    assert (gpu.arch.shared_per_sm, gpu.arch.shared_per_block) == (102_400, 101_376)
    assert gpu.bandwidth == 273e9


def test_h200_has_132_sms_of_sm_90():
    assert (GPUS["H200"].arch.name, GPUS["H200"].sms) == ("sm_90", 132)


@pytest.mark.parametrize(
    ("name", "cc"), [("sm_90", (9, 0)), ("SM_121", (12, 1)), ("h200", (9, 0)), ("RTX 4090", (8, 9))]
)
def test_an_architecture_is_found_by_its_name_or_its_gpus(name, cc):
    assert arch_named(name).cc == cc


@pytest.mark.parametrize(
    ("typed", "meant"), [("sm_91", "sm_90"), ("sm_122", "sm_12"), ("GB11", "gb10"), ("H20", "h200")]
)
def test_an_unknown_architecture_is_refused_with_a_near_match(typed, meant):
    with pytest.raises(Refusal, match=rf"(?i)unknown architecture '{typed}': did you mean {meant}") as refused:
        arch_named(typed)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("arch", "threads", "registers", "shared", "blocks", "limiter"),
    [
        # GB10: (32,768 + 1,024) · 3 = 101,376 ≤ 102,400; 80 registers · 256 threads · 3 = 61,440 ≤ 65,536
        pytest.param(GB10, 256, 80, 32_768, 3, "shared memory", id="design: TM=128 on GB10"),
        pytest.param(GB10, 256, 74, 57_344, 1, "shared memory", id="design: KS=64 on GB10"),
        # seed 001, §2: "smem 69.38 → 34.82 KB ... blocks go 1 → 2/SM", 4 warps of 124 registers
        pytest.param(GB10, 256, 124, 71_045, 1, "shared memory", id="r46: 69.38 KB on GB10"),
        pytest.param(GB10, 128, 124, 34_816, 2, "shared memory", id="r48: 34,816 B on GB10"),
        # 81 · 32 = 2,592, in units of 256: 2,816; a partition of 16,384 holds 5 warps, the SM 20; 20 // 8 = 2
        pytest.param(GB10, 256, 81, 32_768, 2, "registers", id="one register over 80"),
        # 100 · 32 = 3,200 → 3,328; 16,384 // 3,328 = 4, the SM 16; 16 // 8 = 2
        pytest.param(H200, 256, 100, 32_768, 2, "registers", id="TM=128 on H200"),
        # 16 warps of 100 registers: 16 // 16 = 1
        pytest.param(H200, 512, 100, 57_344, 1, "registers", id="TM=256 on H200"),
        # 255 · 32 = 8,160 → 8,192; 2 warps a partition, 8 on the SM
        pytest.param(H200, 256, 255, 0, 1, "registers", id="most registers"),
        # 24 · 32 = 768; 21 warps a partition, 84 on the SM: 5 blocks by registers; 2,048 // 512 = 4 by threads
        pytest.param(H200, 512, 24, 0, 4, "threads", id="threads on H200"),
        # 1,536 // 1,024 = 1 although registers and shared memory hold 2
        pytest.param(RTX_4090, 1024, 32, 40_000, 1, "threads", id="threads on RTX 4090"),
        # 64 threads: 24 blocks by threads, but 16 on sm_86
        pytest.param(RTX_3090, 64, 16, 0, 16, "blocks", id="blocks on RTX 3090"),
        pytest.param(GB10, 32, 16, 0, 24, "blocks", id="blocks on GB10"),
        # (75,000 + 1,024) in units of 128: 76,032; 233,472 // 76,032 = 3
        pytest.param(H200, 128, 32, 75_000, 3, "shared memory", id="shared memory on H200"),
        # 76,801 - 1 + 1,024 = 77,824 = 608 units, and 3 · 77,824 = 233,472 is all there is
        pytest.param(H200, 128, 32, 76_800, 3, "shared memory", id="exactly full"),
        pytest.param(H200, 128, 32, 76_801, 2, "shared memory", id="one byte over full"),
        pytest.param(H200, 256, 32, 232_448, 1, "shared memory", id="the largest block of H200"),
    ],
)
def test_blocks_per_sm_and_their_limiter(arch, threads, registers, shared, blocks, limiter):
    found = residency(arch, threads, registers, shared)
    assert (found.blocks, found.limiter) == (blocks, limiter)


@pytest.mark.parametrize(("arch", "limit"), [(GB10, 101_376), (H200, 232_448)])
def test_no_block_fits_one_byte_over_the_limit_per_block(arch, limit):
    assert residency(arch, 128, 32, limit).blocks == 1
    over = residency(arch, 128, 32, limit + 1)
    assert (over.blocks, over.limiter) == (0, "shared memory")


def test_no_block_fits_whose_registers_exceed_the_sm():
    """1,024 threads of 80 registers: 81,920 of 65,536."""
    found = residency(H200, 1024, 80, 0)
    assert (found.blocks, found.limiter) == (0, "registers")


def test_warps_that_are_no_multiple_of_four_leave_no_hole_between_blocks():
    """6 warps of 40 registers: 16,384 // 1,280 = 12 warps a partition, 48 on the SM, 8 blocks (not 48 // 8 = 6)."""
    assert residency(H200, 192, 40, 0).blocks == 8


OCCUPANCY = r"""
#include "cuda_occupancy.h"
int blocks(int major, int minor, int threads_per_sm, int per_sm, int per_block, int reserved,
           int threads, int registers, int fixed, int dynamic) {
    cudaOccDeviceProp device = {
        major, minor, 1024, threads_per_sm, 65536, 65536, 32, 49152, per_sm, 1, per_block, reserved};
    cudaOccFuncAttributes kernel = {
        1024, registers, fixed, PARTITIONED_GC_OFF, FUNC_SHMEM_LIMIT_OPTIN, per_block - fixed, 1, 0};
    cudaOccDeviceState state = {CACHE_PREFER_NONE, SHAREDMEM_CARVEOUT_MAX_SHARED};
    cudaOccResult result;
    int status = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, threads, dynamic);
    return status == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -status;
}
"""


def occupancy_header() -> Path | None:
    try:
        import nvidia
    except ImportError:
        return None
    found = [path for root in nvidia.__path__ for path in Path(root).glob("*/include/cuda_occupancy.h")]
    return next(iter(found), None)


@pytest.fixture(scope="module")
def nvidias_blocks(tmp_path_factory):
    """NVIDIA's occupancy calculator, compiled."""
    header, compiler = occupancy_header(), shutil.which("cc")
    if header is None or compiler is None:
        pytest.skip(f"NVIDIA's calculator cannot be compiled: header {header}, C compiler {compiler}")
    folder = tmp_path_factory.mktemp("occupancy")
    source, library = folder / "blocks.c", folder / "blocks.so"
    source.write_text(OCCUPANCY)
    subprocess.run([compiler, "-shared", "-fPIC", f"-I{header.parent}", "-o", library, source], check=True)
    calculator = ctypes.CDLL(library)

    def blocks(arch, threads, registers, dynamic, static=0):
        limits = (arch.threads_per_sm, arch.shared_per_sm, arch.shared_per_block, arch.reserved)
        return calculator.blocks(*arch.cc, *limits, threads, registers, static, dynamic)

    return blocks


@pytest.mark.parametrize("name", ARCHS)
def test_blocks_per_sm_are_those_of_nvidias_calculator(name, nvidias_blocks):
    arch = ARCHS[name]
    sizes = (0, 1, 24_576, 32_768, 34_816, 49_152, 57_344, 71_045, 88_064)
    cases = list(
        itertools.product(
            (32, 64, 96, 128, 160, 192, 256, 384, 512, 640, 1024),
            (16, 24, 32, 40, 52, 64, 72, 76, 80, 81, 100, 124, 128, 154, 168, 255),
            (*sizes, arch.shared_per_block, arch.shared_per_block + 1),
        )
    )
    differing = {
        case: (ours, theirs)
        for case in cases
        if (ours := residency(arch, *case).blocks) != (theirs := nvidias_blocks(arch, *case))
    }
    assert differing == {}, f"(threads, registers, shared): (ours, NVIDIA's); {len(differing)} of {len(cases)} differ"
