"""The GEMM's factory: geometry from its parameters, and parameters that make no sense refused."""

import re

import pytest

from playground.compiler.arch import ARCHS
from playground.compiler.build import build
from playground.errors import Refusal
from playground.kernels import gemm_f16_nt


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"TM": 100}, "TM = 100 is not a positive multiple of 64"),
        ({"TM": 0}, "TM = 0 is not a positive multiple of 64"),
        ({"TM": -64}, "TM = -64 is not a positive multiple of 64"),
        ({"KS": 48}, "KS = 48 is not a positive multiple of 32"),
        ({"KS": 0}, "KS = 0 is not a positive multiple of 32"),
        ({"pad": 4}, "pad = 4 is not a multiple of 8 halves"),
        ({"pad": -8}, "pad = -8 is not a multiple of 8 halves"),
        ({"TM": 128, "warps": 7}, "7 warps over TM = 128"),
        ({"TM": 128, "warps": -2}, "-2 warps over TM = 128"),
        ({"TM": 1024, "warps": 64}, "64 warps over TM = 1024"),
        ({"TM": 64, "warps": 16}, "16 warps over TM = 64 leave 8 columns"),
        ({"TM": 128, "warps": 6}, "6 warps over TM = 128"),
        ({"TM": 128, "warps": 0}, "0 warps"),
    ],
    ids=str,
)
def test_parameters_that_make_no_sense_are_refused_with_their_value(parameters, message):
    with pytest.raises(Refusal, match=re.escape(message)) as refused:
        gemm_f16_nt(**parameters)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("TM", "warps"), [(64, 8), (128, 8), (192, 8), (256, 16), (512, 16)])
def test_the_warps_follow_the_source_if_not_given(TM, warps):
    """Seed 000, §3.3: "TM≤128 → 8 warps, TM=256 → 16 warps"."""
    kernel = gemm_f16_nt(TM=TM)
    assert kernel.parameters["warps"] == warps
    assert kernel.threads == 32 * warps


def test_the_default_is_the_kernel_that_the_source_landed():
    assert gemm_f16_nt().parameters == {"TM": 128, "KS": 32, "warps": 8, "pad": 0, "staging": "async"}


@pytest.mark.parametrize(
    ("dims", "grid"),
    [
        ((2048, 3584, 3584), (32, 28, 1)),
        ((1, 1, 8), (1, 1, 1)),
        ((65, 129, 8), (2, 2, 1)),
        ((64, 128, 8), (1, 1, 1)),
    ],
)
def test_the_grid_covers_the_output_with_nt_along_x(dims, grid):
    assert gemm_f16_nt(TM=128).grid(*dims) == grid
    assert gemm_f16_nt(TM=128, order="od").grid(*dims) == (grid[1], grid[0], 1)


def test_a_kernel_is_named_by_all_its_parameters():
    assert str(gemm_f16_nt(TM=256, warps=8, pad=8)) == "gemm_f16_nt(TM=256, KS=32, warps=8, pad=8, staging=async)"


def test_two_settings_give_two_kernels_and_neither_takes_the_others_constants():
    """The tile's columns set how far apart the blocks start, and the k-step how far apart the copies do."""
    ptx = {TM: build(gemm_f16_nt(TM=TM), ARCHS["sm_90"]).ptx for TM in (64, 128)}
    again = build(gemm_f16_nt(TM=64), ARCHS["sm_90"]).ptx
    assert ptx[64] != ptx[128]
    assert again == ptx[64]
    for TM, text in ptx.items():
        block = re.search(r"mov\.u32\s+(%r\d+), %ctaid\.y;", text).group(1)
        shift = {64: 6, 128: 7}[TM]
        scaled = re.search(rf"(?:shl\.b32\s+%r\d+, {block}, (\d+)|mul\S*\s+%rd?\d+, {block}, (\d+))", text)
        wide = re.search(rf"cvt\.u64\.u32\s+(%rd\d+), {block};", text)
        if not scaled and wide:
            scaled = re.search(
                rf"(?:shl\.b64\s+%rd\d+, {wide.group(1)}, (\d+)|mul\S*\s+%rd\d+, {wide.group(1)}, (\d+))", text
            )
        assert scaled, text
        assert scaled.group(1) == str(shift) or scaled.group(2) == str(TM)
