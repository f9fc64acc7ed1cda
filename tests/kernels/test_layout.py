"""Shared-memory layouts: the seeds' bytes, and regions that are aligned and apart."""

from itertools import pairwise

import pytest

from playground.kernels import gemm_f16_nt
from playground.kernels.layout import Region, SharedLayout

KIB = 1024

VARIANTS = [
    {"TM": 64, "KS": 32},
    {"TM": 128, "KS": 32},
    {"TM": 128, "KS": 64},
    {"TM": 128, "KS": 96, "pad": 8},
    {"TM": 192, "KS": 32},
    {"TM": 256, "KS": 32, "warps": 16},
    {"TM": 256, "KS": 32, "warps": 8},
    {"TM": 256, "KS": 64, "warps": 8, "pad": 8},
]


@pytest.mark.parametrize(
    ("parameters", "bytes"),
    [
        ({"TM": 64, "KS": 32}, 24_576),
        ({"TM": 128, "KS": 32}, 32_768),
        ({"TM": 128, "KS": 64}, 57_344),  # seed 000, §3.3: "needs 56 KB smem"
        ({"TM": 256, "KS": 32, "warps": 16}, 57_344),
        ({"TM": 256, "KS": 32, "warps": 8}, 49_152),
        ({"TM": 192, "KS": 96}, 106_496),
    ],
)
def test_the_gemms_take_the_bytes_that_the_source_states(parameters, bytes):
    assert gemm_f16_nt(**parameters).layout.bytes == bytes


@pytest.mark.parametrize("parameters", VARIANTS, ids=str)
def test_the_bytes_are_two_buffers_of_both_tiles_and_a_fragment_per_warp(parameters):
    kernel = gemm_f16_nt(**parameters)
    TM, KS, warps, pad = (kernel.parameters[name] for name in ("TM", "KS", "warps", "pad"))
    staging = 2 * (64 + TM) * (KS + pad) * 2
    scratch = warps * 16 * 16 * 4
    assert kernel.layout.bytes == staging + scratch


@pytest.mark.parametrize("parameters", VARIANTS, ids=str)
def test_regions_are_aligned_to_128_bytes_and_do_not_overlap(parameters):
    layout = gemm_f16_nt(**parameters).layout
    spans = sorted((region.offset, region.offset + region.bytes) for region in layout.regions.values())
    assert all(start % 128 == 0 for start, _ in spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    assert spans[-1][1] <= layout.bytes


@pytest.mark.parametrize("parameters", VARIANTS, ids=str)
def test_every_fragment_a_warp_touches_is_aligned_as_wmma_requires(parameters):
    """PTX ISA: 32 bytes for wmma.load of f16, and a stride that is a multiple of 16 bytes."""
    layout = gemm_f16_nt(**parameters).layout
    for name in "AB":
        buffer, row, half = layout[name].strides
        assert half == 2
        assert row % 16 == 0
        assert buffer % 32 == 0
        assert 16 * row % 32 == 0  # from one 16-row fragment to the next


def test_strides_are_the_bytes_from_one_index_to_the_next():
    assert Region("A", (2, 64, 40), 2).strides == (2 * 64 * 40, 2 * 40, 2)
    assert Region("A", (2, 64, 40), 2).bytes == 2 * 64 * 40 * 2


def test_a_padded_row_of_32_halves_is_80_bytes_apart():
    assert gemm_f16_nt(TM=128, KS=32, pad=8).layout["B"].strides[1] == 80


def test_a_region_follows_at_the_next_multiple_of_128():
    layout = SharedLayout(Region("first", (100,), 1), Region("second", (1,), 4), Region("third", (128,), 1))
    assert [layout[name].offset for name in ("first", "second", "third")] == [0, 128, 256]
    assert layout.bytes == 384


def test_an_empty_layout_takes_nothing():
    assert SharedLayout().bytes == 0


def test_two_regions_that_take_turns_need_the_larger_of_them():
    """Seed 001, §5: a write-back of 32 KB over staging of 34,816 B, which the launcher must count as a maximum."""
    staging, output = Region("staging", (34_816,), 1), Region("output", (64, 128), 4, reuses="staging")
    layout = SharedLayout(staging, output)
    assert layout["output"].offset == layout["staging"].offset == 0
    assert layout.bytes == 34_816

    larger = SharedLayout(staging, Region("output", (64, 256), 4, reuses="staging"))
    assert larger.bytes == 64 * KIB
