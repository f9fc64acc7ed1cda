"""What a GEMM takes: arrays that agree, in the right type, and lengths that the kernels can do."""

import re

import numpy as np
import pytest

from playground.errors import Refusal
from playground.kernels.gemm_f16_nt import GEMM_NT


def halves(*shape):
    return np.ones(shape, np.float16)


def refusal(A, B):
    with pytest.raises(Refusal) as refused:
        GEMM_NT.dimensions_of({"A": A, "B": B})
    message = str(refused.value)
    assert "\n" not in message
    return message


def test_the_dimensions_are_those_that_the_inputs_agree_on():
    assert GEMM_NT.dimensions_of({"A": halves(3, 16), "B": halves(5, 16)}) == {"nt": 3, "od": 5, "id": 16}


def test_a_wrong_dtype_is_refused():
    assert refusal(np.ones((3, 16), np.float32), halves(5, 16)).endswith("A is float32, not float16")
    assert refusal(halves(3, 16), np.ones((5, 16), np.float64)).endswith("B is float64, not float16")


def test_inputs_that_disagree_on_id_are_refused_with_both_lengths():
    message = refusal(halves(3, 16), halves(5, 24))
    assert re.search(r"\bB\b.*id = 24.*16", message)


@pytest.mark.parametrize("id", [1, 7, 12, 3585])
def test_an_id_that_is_not_a_multiple_of_8_is_refused(id):
    assert f"id = {id} is not a multiple of 8" in refusal(halves(3, id), halves(5, id))


def test_empty_dimensions_are_refused():
    assert "nt = 0 is not between 1 and 2147483647" in refusal(halves(0, 16), halves(5, 16))
    assert "od = 0" in refusal(halves(3, 16), halves(0, 16))
    assert "id = 0" in refusal(halves(3, 0), halves(5, 0))


def test_a_dimension_beyond_int32_is_refused():
    with pytest.raises(Refusal, match="nt = 2147483648 is not between 1 and 2147483647"):
        GEMM_NT.check_dimensions({"nt": 2**31, "od": 1, "id": 8})


def test_a_transposed_view_is_refused_with_its_strides():
    message = refusal(halves(16, 3).T, halves(5, 16))
    assert "A is not contiguous" in message
    assert "(2, 6)" in message


def test_a_vector_is_refused_with_its_shape():
    assert "(16,)" in refusal(halves(16), halves(5, 16))


def test_a_gemm_is_two_operations_per_product():
    """gate and up of Qwen2.5-7B over 2048 tokens: 278 GFLOP each."""
    assert GEMM_NT.flop(nt=2048, od=18944, id=3584) == 2 * 2048 * 18944 * 3584 == 278_099_132_416


def test_bytes_follow_dtype_and_shape():
    A, B, C = GEMM_NT.tensors
    dims = {"nt": 3, "od": 5, "id": 16}
    assert [GEMM_NT.bytes_of(tensor, dims) for tensor in (A, B, C)] == [96, 160, 60]
