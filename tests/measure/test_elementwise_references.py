"""References of the elementwise kernels: what float32 arithmetic passes, and what is told from it."""

import numpy as np
import pytest

from playground.kernels import add_bias, convert_f32_f16, rms_norm, rope, store_kv_f16, swiglu
from playground.measure import parity
from playground.measure.inputs import random_inputs
from playground.measure.references import REFERENCES
from playground.runner import Outcome

KERNELS = {
    "add_bias": (add_bias(), {"nt": 40, "od": 300}),
    "convert_f32_f16": (convert_f32_f16(), {"n": 4000}),
    "rms_norm_f32": (rms_norm("f32"), {"nt": 20, "id": 3584}),
    "rms_norm_f16": (rms_norm("f16"), {"nt": 20, "id": 3584}),
    "rope_hd128": (rope(128), {"nt": 30, "nh": 4}),
    "store_kv_f16": (store_kv_f16(), {"nt": 30, "nkt": 64, "slots": 50}),
    "swiglu": (swiglu(), {"n": 4000}),
}


def problem(name, **arrays):
    kernel, dims = KERNELS[name]
    inputs = random_inputs(kernel.contract, dims, seed=1) | arrays
    return inputs, REFERENCES[name](inputs)


def passes(output, expected):
    ((name, wanted),) = expected.items()
    return parity.check(Outcome({name: np.asarray(output)}), {name: wanted}).passed


def f32(value):
    assert value.dtype == np.float32
    return value


def sigmoid_f32(gate):
    return f32(1 / (1 + np.exp(-gate)))


def normed_f32(inputs, epsilon=1e-6):
    X, W = inputs["X"], inputs["W"]
    return f32(X * W / np.sqrt(np.mean(X * X, axis=1, keepdims=True) + np.float32(epsilon)))


# ------------------------------------------------------------------------------------------------------ to the last bit


def test_a_conversion_is_compared_to_the_bit():
    inputs, expected = problem("convert_f32_f16")
    right = inputs["x"].astype(np.float16)
    assert passes(right, expected)
    for direction in (-np.inf, np.inf):
        wrong = right.copy()
        wrong[17] = np.nextafter(right[17], np.float16(direction))
        assert not passes(wrong, expected)


def test_ties_go_to_even():
    between = np.array([1 + 2.0**-11, 1 + 3 * 2.0**-11, 2.0**-25, 65_503], np.float32)
    _, expected = problem("convert_f32_f16", x=between)
    np.testing.assert_array_equal(expected["y"].values, [1, 1 + 2 * 2.0**-10, 0, 65_504])


def test_the_cache_is_compared_in_rows_that_are_stored_and_in_rows_that_are_not():
    inputs, expected = problem("store_kv_f16")
    right, positions = inputs["dst"].copy(), inputs["positions"]
    right[positions] = inputs["src"].astype(np.float16)
    assert passes(right, expected)
    other = next(row for row in range(50) if row not in positions)
    for wrong_row in (other, positions[3]):
        wrong = right.copy()
        wrong[wrong_row, 63] += np.float16(0.01)
        assert not passes(wrong, expected)
    not_stored, next_row = right.copy(), np.roll(right, 1, axis=0)
    not_stored[positions[5]] = inputs["dst"][positions[5]]
    assert not passes(not_stored, expected)
    assert not passes(next_row, expected)
    assert not passes(np.full_like(right, np.nan), expected)


def test_a_bias_is_one_rounding():
    inputs, expected = problem("add_bias")
    assert passes(f32(inputs["X"] + inputs["bias"]), expected)
    assert not passes(f32(inputs["X"] + np.roll(inputs["bias"], 1)), expected)
    assert not passes(f32(inputs["X"] + inputs["bias"]).astype(np.float16).astype(np.float32), expected)


# ------------------------------------------------------------------------------------------------- within a tolerance


def test_swiglu_in_float32_passes_and_its_neighbours_do_not():
    inputs, expected = problem("swiglu")
    gate, up = inputs["gate"], inputs["up"]
    assert passes(f32(gate * sigmoid_f32(gate) * up), expected)
    assert not passes(f32(up * sigmoid_f32(up) * gate), expected)
    assert not passes(f32(sigmoid_f32(gate) * up), expected)
    assert not passes(f32(gate * sigmoid_f32(gate.astype(np.float16).astype(np.float32)) * up), expected)


def test_swiglu_is_zero_where_its_exponential_overflows():
    gate = np.array([-1000, -104, -89, -88, 0, 88, 1000], np.float32)
    _, expected = problem("swiglu", gate=gate, up=np.ones(7, np.float32))
    assert passes(np.array([0, 0, 0, 0, 0, 88, 1000], np.float32), expected)
    assert not passes(np.array([np.nan, 0, 0, 0, 0, 88, 1000], np.float32), expected)


@pytest.mark.parametrize("out", ["f32", "f16"])
def test_a_norm_in_float32_passes_and_one_lost_square_does_not(out):
    inputs, expected = problem(f"rms_norm_{out}")
    dtype = {"f32": np.float32, "f16": np.float16}[out]
    assert passes(normed_f32(inputs).astype(dtype), expected)
    rows = inputs["X"] * inputs["X"]
    lost = np.sqrt(1 - rows.mean() / rows.sum(axis=1, keepdims=True))
    assert not passes((normed_f32(inputs) / lost).astype(dtype), expected)
    assert not passes(normed_f32(inputs, epsilon=1e-2).astype(dtype), expected)


def test_rotation_is_that_of_the_published_model():
    """x · cos + rotate_half(x) · sin, with inv_freq = 1 / θ^(2i/hd) on both halves."""
    inputs, expected = problem("rope_hd128")
    X, positions = inputs["X"].astype(np.float64), inputs["positions"]
    inverse = 1.0 / 1e6 ** (np.arange(0, 128, 2) / 128)
    angle = np.concatenate([np.outer(positions, inverse)] * 2, axis=1)[:, None]
    rotated_half = np.concatenate([-X[..., 64:], X[..., :64]], axis=-1)
    published = X * np.cos(angle) + rotated_half * np.sin(angle)
    np.testing.assert_allclose(expected["Y"].values, published, rtol=0, atol=1e-9)
    assert passes(published.astype(np.float32), expected)


def test_angles_in_float32_radians_fail_at_large_positions():
    inputs, expected = problem("rope_hd128")
    angle = np.outer(inputs["positions"].astype(np.float32), (1e6 ** (-np.arange(64) / 64)).astype(np.float32))
    c, s = f32(np.cos(angle))[:, None], f32(np.sin(angle))[:, None]
    a, b = np.split(inputs["X"], 2, axis=-1)
    assert not passes(f32(np.concatenate([a * c - b * s, b * c + a * s], axis=-1)), expected)


# -------------------------------------------------------------------------------------------------------------- inputs


def test_a_caches_rows_are_distinct_and_repeat_with_the_seed():
    contract, dims = store_kv_f16().contract, {"nt": 500, "nkt": 1, "slots": 512}
    first, again, other = (random_inputs(contract, dims, seed)["positions"] for seed in (1, 1, 2))
    assert len(set(first)) == 500
    assert (first.min() >= 0, first.max() < 512) == (True, True)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert not np.array_equal(first, np.sort(first))


def test_the_cache_before_is_an_input_and_the_cache_after_an_output():
    contract = store_kv_f16().contract
    assert [tensor.name for tensor in contract.inputs] == ["src", "positions", "dst"]
    assert [tensor.name for tensor in contract.outputs] == ["dst"]
    with_cache = random_inputs(contract, {"nt": 3, "nkt": 4, "slots": 9}, seed=1)
    assert contract.dimensions_of(with_cache) == {"nt": 3, "nkt": 4, "slots": 9}
