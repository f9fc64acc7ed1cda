"""Random weights: of the size that they should have, and the same wherever they are made."""

import numpy as np

from playground.compiler.arch import arch_named
from playground.compiler.build import build
from playground.emulator.arrays import EmulatedArrays
from playground.kernels.random_f16 import random_f16


def made(od, id, seed):
    arrays = EmulatedArrays(arch_named("H200"))
    W = arrays.allocate((od, id), "float16")
    arrays.launch(build(random_f16(), arrays.arch), [W], {"od": od, "id": id, "seed": seed})
    assert arrays.hazards == []
    return W


def murmur(bits):
    """fmix32 of MurmurHash3, from its published source."""
    bits = np.atleast_1d(np.asarray(bits, np.uint32))
    bits = (bits ^ bits >> 16) * np.uint32(0x85EBCA6B)
    bits = (bits ^ bits >> 13) * np.uint32(0xC2B2AE35)
    return bits ^ bits >> 16


def test_values_are_uniform_with_variance_1_over_id():
    W = made(100, 384, seed=3).astype(np.float64) * np.sqrt(384)
    n = W.size
    assert abs(W.mean()) < 4 / np.sqrt(n)
    assert abs(W.var() - 1) < 4 * np.sqrt((9 / 5 - 1) / n)  # a uniform distribution's fourth moment is 9/5
    assert 1.73 < np.abs(W).max() <= np.sqrt(3) * 1.001
    assert abs(np.corrcoef(W[:, :-1].ravel(), W[:, 1:].ravel())[0, 1]) < 4 / np.sqrt(n)


def test_every_value_is_the_hash_of_its_index_and_the_seed():
    element = np.arange(3 * 37, dtype=np.uint32)
    bits = murmur(element ^ murmur(9))
    exact = ((bits >> 8).astype(np.float64) / 2**23 - 1) * np.sqrt(3 / 37)
    np.testing.assert_allclose(made(3, 37, seed=9).ravel(), exact, rtol=2.0**-11 + 2.0**-20, atol=2.0**-25)


def test_another_seed_gives_other_values():
    first, second = (made(64, 64, seed).astype(np.float64) for seed in (1, 2))
    assert abs(np.corrcoef(first.ravel(), second.ravel())[0, 1]) < 4 / 64
