"""Blocks per SM pinned by dynamic shared memory: bytes against the CUDA guide's figures, worked out by hand."""

import pytest

from playground.compiler.arch import ARCHS, residency, shared_for_at_most
from playground.compiler.build import build
from playground.errors import Refusal
from playground.kernels import convert_gemm, pinned
from playground.kernels.l2_sweep import l2_sweep


@pytest.mark.parametrize(
    ("arch", "blocks", "bytes"),
    [
        # 233,472 per SM. 2 blocks take 116,736 each at most: the next unit of 128, less the 1,024 reserved
        ("sm_90", 1, 116_736 + 128 - 1024),
        # 3 take 77,824 each
        ("sm_90", 2, 77_824 + 128 - 1024),
        # 102,400 per SM. 2 take 51,200 each; 4 take 25,600; 17 take 6,023, which is 47 units of 128 and a part
        ("sm_121", 1, 51_200 + 128 - 1024),
        ("sm_121", 3, 25_600 + 128 - 1024),
        ("sm_89", 16, 47 * 128 + 128 - 1024),
        # 65,536 per SM and none reserved. 2 take 32,768 each
        ("sm_75", 1, 32_768 + 128),
    ],
)
def test_the_least_bytes_with_which_no_more_blocks_fit(arch, blocks, bytes):
    assert shared_for_at_most(blocks, ARCHS[arch], 0) == bytes
    assert residency(ARCHS[arch], 32, 16, bytes).blocks == blocks
    assert residency(ARCHS[arch], 32, 16, bytes - 128).blocks == blocks + 1


def test_a_kernel_that_takes_more_by_itself_keeps_its_own_bytes():
    assert shared_for_at_most(1, ARCHS["sm_121"], 57_344) == 57_344


def test_a_pinned_build_is_the_same_code_with_other_bytes_to_launch_with():
    free, one, two = (
        build(kernel, ARCHS["sm_90"]) for kernel in (l2_sweep(), *(pinned(l2_sweep(), n) for n in (1, 2)))
    )
    assert free.dynamic_shared == 0
    assert [made.dynamic_shared for made in (one, two)] == [115_840, 76_928]
    assert [(made.ledger.blocks_per_sm, made.ledger.limiter) for made in (one, two)] == [
        (1, "shared memory"),
        (2, "shared memory"),
    ]
    assert free.cubin == one.cubin == two.cubin
    assert str(one.kernel).endswith("blocks_per_sm=1)")
    assert one.kernel.described["blocks_per_sm"] == 1


def test_blocks_that_other_limits_stop_short_of_are_refused_with_their_number():
    """512 threads: 2,048 of sm_90 are 4 blocks."""
    with pytest.raises(Refusal, match=r"blocks_per_sm=5.*sm_90 4 blocks fit on an SM, by threads"):
        build(pinned(l2_sweep(), 5), ARCHS["sm_90"])


@pytest.mark.parametrize("blocks", [0, -1, 1.0])
def test_a_pin_that_is_no_number_of_blocks_is_refused(blocks):
    with pytest.raises(Refusal, match=f"blocks = {blocks}"):
        pinned(l2_sweep(), blocks)


def test_a_pipeline_is_not_pinned_as_a_whole():
    with pytest.raises(Refusal, match=r"pinned: convert_f32_f16.* → gemm_f16_nt.* is not one kernel: pin its steps"):
        pinned(convert_gemm(), 1)
