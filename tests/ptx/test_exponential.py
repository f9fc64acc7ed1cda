"""exp2: the statement of the PTX ISA (§ "ex2"), and values within its stated error."""

import re

import numpy as np
from numba import cuda
from numba.cuda.types import float32, int64

from playground.emulator import emulate
from playground.ptx.exponential import exp2
from playground.ptx.memory import store_global_f32


def exponentials(*exponents):
    def kernel(given, found):
        found[cuda.threadIdx.x] = exp2(given[cuda.threadIdx.x])

    given = np.array(exponents, np.float32)
    found = np.empty_like(given)
    assert emulate(kernel, 1, len(given), given, found).clean
    return found


def test_it_is_one_instruction(ptx_of):
    def kernel(destination, exponent):
        store_global_f32(destination, exp2(exponent))

    ptx = ptx_of(kernel, int64, float32)
    assert re.search(r"ex2\.approx\.ftz\.f32 %f\d+, %f\d+;", ptx), ptx


def test_it_is_within_two_units_in_the_last_place():
    exponents = np.random.default_rng(0).uniform(-126, 127, 1024).astype(np.float32)
    found, wanted = exponentials(*exponents), np.exp2(exponents.astype(np.float64))
    assert np.max(np.abs(found - wanted) / np.spacing(wanted.astype(np.float32))) <= 2


def test_a_maximum_that_stays_corrects_by_exactly_one():
    assert exponentials(0.0, -0.0, 1e-40).tolist() == [1, 1, 1]


def test_a_masked_logit_weighs_nothing():
    """Minus infinity, which a key that is not seen has, and any logit that is too far below the maximum."""
    assert exponentials(-np.inf, -28853.9, -150, -127).tolist() == [0, 0, 0, 0]


def test_what_overflows_is_infinite_and_what_is_no_number_stays_none():
    high, infinite, undefined = exponentials(128, np.inf, np.nan)
    assert high == infinite == np.inf
    assert np.isnan(undefined)
