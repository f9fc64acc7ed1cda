"""The float64 reference against exact sums, and a tolerance that right kernels meet and wrong ones do not."""

import math

import numpy as np
import pytest

from playground.kernels.gemm_f16_nt import GEMM_AF32_NT, GEMM_NT
from playground.measure import parity
from playground.measure.inputs import random_inputs
from playground.measure.references import REFERENCES
from playground.runner import Outcome

IDS = [8, 40, 520, 3584, 18944]


def problem(id, nt=24, od=16, seed=1):
    inputs = random_inputs(GEMM_NT, {"nt": nt, "od": od, "id": id}, seed)
    return inputs, REFERENCES["gemm_nt"](inputs)


def passes(C, expected):
    return parity.check(Outcome({"C": C}), expected).passed


def float32s(inputs):
    return inputs["A"].astype(np.float32), inputs["B"].astype(np.float32)


@pytest.mark.parametrize("id", [8, 520])
def test_the_reference_is_the_exact_sum_rounded_once(id):
    inputs, expected = problem(id, nt=3, od=4)
    for n in range(3):
        for m in range(4):
            products = [float(a) * float(b) for a, b in zip(inputs["A"][n], inputs["B"][m])]
            magnitude = math.fsum(map(abs, products))
            assert abs(expected["C"].values[n, m] - math.fsum(products)) <= id * 2.0**-53 * magnitude


def test_the_reference_goes_on_beyond_its_block_of_rows():
    inputs, expected = problem(8, nt=2, od=2500)
    exact = np.einsum("ni,mi->nm", inputs["A"].astype(np.float64), inputs["B"].astype(np.float64))
    np.testing.assert_allclose(expected["C"].values, exact, rtol=0, atol=1e-12)
    assert expected["C"].tolerance.shape == (2, 2500)
    assert (expected["C"].tolerance > 0).all()


@pytest.mark.parametrize("id", IDS)
def test_float32_accumulation_passes(id):
    inputs, expected = problem(id)
    A, B = float32s(inputs)
    assert passes(A @ B.T, expected)


@pytest.mark.parametrize("id", IDS)
def test_an_accumulator_that_truncates_after_every_8_products_passes(id):
    """The least exact that the tolerance allows for: tensor cores of all generations add at least 8 at a time."""
    inputs, expected = problem(id)
    A, B = (tensor.astype(np.float64) for tensor in float32s(inputs))
    total = np.zeros((24, 16), np.float32)
    for first in range(0, id, 8):
        chunk = slice(first, first + 8)
        total = towards_zero(total.astype(np.float64) + A[:, chunk] @ B[:, chunk].T)
    assert passes(total, expected)


def towards_zero(exact):
    nearest = exact.astype(np.float32)
    too_far = np.abs(nearest.astype(np.float64)) > np.abs(exact)
    return np.where(too_far, np.nextafter(nearest, np.float32(0)), nearest)


@pytest.mark.parametrize("id", IDS)
def test_float16_accumulation_fails(id):
    inputs, expected = problem(id)
    total = np.zeros((24, 16), np.float16)
    for k in range(id):
        total = total + inputs["A"][:, k, None] * inputs["B"][None, :, k]
    assert total.dtype == np.float16
    assert not passes(total.astype(np.float32), expected)


@pytest.mark.parametrize("id", [8, 40, 520, 3584])
def test_a_result_rounded_to_float16_fails_unless_that_is_allowed_for(id):
    _, expected = problem(id)
    rounded = expected["C"].values.astype(np.float16)
    assert not passes(rounded.astype(np.float32), expected)
    assert passes(rounded, {"C": expected["C"].rounded_to_f16()})


@pytest.mark.parametrize("id", [40, 520, 3584, 18944])
@pytest.mark.parametrize("where", ["first", "last"])
def test_one_lost_chunk_of_8_products_fails(id, where):
    inputs, expected = problem(id)
    A, B = float32s(inputs)
    kept = slice(8, None) if where == "first" else slice(None, -8)
    assert not passes(A[:, kept] @ B[:, kept].T, expected)


def test_one_lost_chunk_in_one_row_is_found_where_it_is():
    inputs, expected = problem(3584)
    A, B = float32s(inputs)
    A[17, 1784:1792] = 0
    result = parity.check(Outcome({"C": A @ B.T}), expected)
    assert not result.passed
    assert result.where[0] == 17


def test_two_swapped_rows_of_b_fail():
    inputs, expected = problem(3584)
    A, B = float32s(inputs)
    assert not passes(A @ B[[1, 0, *range(2, 16)]].T, expected)


@pytest.mark.parametrize("scale", [2.0**-6, 2.0**6])
def test_the_tolerance_follows_the_size_of_the_values(scale):
    inputs, expected = problem(520)
    scaled = {name: (tensor * np.float16(scale)).astype(np.float16) for name, tensor in inputs.items()}
    np.testing.assert_allclose(
        REFERENCES["gemm_nt"](scaled)["C"].tolerance / expected["C"].tolerance, scale**2, rtol=0.01
    )


def test_an_a_in_f32_is_rounded_to_f16_before_it_is_multiplied():
    inputs = random_inputs(GEMM_AF32_NT, {"nt": 24, "od": 16, "id": 520}, seed=1)
    A, B = inputs["A"], inputs["B"].astype(np.float64)
    assert A.dtype == np.float32
    expected = REFERENCES["gemm_af32_nt"](inputs)
    rounded = A.astype(np.float16).astype(np.float64)
    np.testing.assert_allclose(expected["C"].values, rounded @ B.T, rtol=0, atol=1e-12)
    assert passes((rounded @ B.T).astype(np.float32), expected)
    assert not passes((A.astype(np.float64) @ B.T).astype(np.float32), expected)
