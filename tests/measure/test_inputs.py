"""Random inputs: repeatable by their seed, and as distributed as the record says."""

import numpy as np

from playground.kernels.gemm_f16_nt import GEMM_NT
from playground.measure.inputs import DISTRIBUTION, fresh_seed, random_inputs

DIMS = {"nt": 200, "od": 100, "id": 400}


def test_inputs_have_the_contracts_shapes_and_types():
    inputs = random_inputs(GEMM_NT, DIMS, seed=1)
    assert {name: (array.shape, array.dtype) for name, array in inputs.items()} == {
        "A": ((200, 400), np.float16),
        "B": ((100, 400), np.float16),
    }


def test_a_seed_repeats_its_inputs_and_another_does_not():
    first, again, other = (random_inputs(GEMM_NT, DIMS, seed) for seed in (1, 1, 2))
    for name in "AB":
        assert np.array_equal(first[name], again[name])
        assert not np.array_equal(first[name], other[name])


def test_a_and_b_are_independent():
    inputs = random_inputs(GEMM_NT, {"nt": 100, "od": 100, "id": 400}, seed=1)
    correlation = np.corrcoef(inputs["A"].ravel().astype(float), inputs["B"].ravel().astype(float))[0, 1]
    assert abs(correlation) < 5 / np.sqrt(40_000)


def test_values_are_standard_normal():
    values = random_inputs(GEMM_NT, DIMS, seed=1)["A"].astype(float)
    n = values.size
    assert DISTRIBUTION == "standard normal"
    assert abs(values.mean()) < 5 / np.sqrt(n)
    assert abs(values.std() - 1) < 5 / np.sqrt(2 * n)
    assert abs(np.mean(np.abs(values) < 1) - 0.6827) < 0.01


def test_fresh_seeds_differ():
    assert len({fresh_seed() for _ in range(20)}) == 20
