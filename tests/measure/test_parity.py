"""The gate on one run: what it lets pass, and what it says of what it does not."""

import numpy as np
import pytest

from playground.measure.parity import check
from playground.measure.references import Expected
from playground.runner import Outcome

EXACT = np.arange(12.0).reshape(3, 4) - 5
TOLERANCE = np.full((3, 4), 1e-3, np.float32)
EXPECTED = {"C": Expected(EXACT, TOLERANCE, "one in a thousand")}


def result(changed=None, written_outside=0):
    C = EXACT.astype(np.float32)
    for index, value in (changed or {}).items():
        C[index] = value
    return check(Outcome({"C": C}, written_outside), EXPECTED)


def test_a_right_result_passes():
    parity = result()
    assert parity.passed
    assert (parity.max_error, parity.rms_error, parity.worst, parity.not_finite) == (0, 0, 0, 0)
    assert parity.rms_value == pytest.approx(np.sqrt(np.mean(EXACT**2)))
    assert parity.tolerance == "one in a thousand"


@pytest.mark.parametrize("index", [(0, 0), (1, 2), (2, 3)])
@pytest.mark.parametrize("sign", [-1, 1])
def test_one_element_off_by_twice_its_tolerance_fails_and_is_named(index, sign):
    parity = result({index: EXACT[index] + sign * 2e-3})
    assert not parity.passed
    assert parity.where == index
    assert parity.worst == pytest.approx(2, rel=1e-3)
    assert parity.max_error == pytest.approx(2e-3, rel=1e-3)
    assert parity.rms_error == pytest.approx(2e-3 / np.sqrt(12), rel=1e-3)
    assert str(index) in str(parity)
    assert str(parity).startswith("FAILED")


def test_an_error_within_the_tolerance_passes_and_is_reported():
    parity = result({(1, 1): EXACT[1, 1] + 5e-4})
    assert parity.passed
    assert parity.where == (1, 1)
    assert parity.worst == pytest.approx(0.5, rel=1e-2)
    assert str(parity).startswith("held")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_elements_that_are_not_finite_fail_and_are_counted(value):
    parity = result({(0, 3): value, (2, 0): value, (2, 2): value})
    assert not parity.passed
    assert parity.not_finite == 3
    assert parity.where == (0, 3)
    assert str(parity).startswith("FAILED: 3 elements of C")
    assert np.isfinite(parity.max_error)


def test_an_output_of_which_nothing_was_written_fails():
    parity = check(Outcome({"C": np.full((3, 4), np.nan, np.float32)}), EXPECTED)
    assert not parity.passed
    assert parity.not_finite == 12


def test_a_right_result_with_bytes_written_elsewhere_fails():
    parity = result(written_outside=4)
    assert not parity.passed
    assert str(parity) == "FAILED: 4 bytes written outside the arrays"


def test_of_several_outputs_the_one_that_fails_is_reported():
    right, wrong = EXACT.astype(np.float32), EXACT.astype(np.float32) + 1
    for outputs in ({"C": right, "D": wrong}, {"C": wrong, "D": right}):
        parity = check(Outcome(outputs), {"C": EXPECTED["C"], "D": EXPECTED["C"]})
        assert not parity.passed
        assert np.array_equal(outputs[parity.output], wrong)


def test_the_record_of_a_gate_has_its_figures_and_where_the_tolerance_comes_from():
    record = result({(1, 2): EXACT[1, 2] + 2e-3}).as_record()
    assert record["passed"] is False
    assert record["where"] == (1, 2)
    assert record["tolerance"] == "one in a thousand"
