"""The stopwatch and its surroundings on a real GPU."""

import numpy as np
import pytest

from playground.compiler.build import build
from playground.kernels import gemm_f16_nt
from playground.measure.verdict import paired_ratio

pytestmark = pytest.mark.gpu


@pytest.fixture
def times(device, gemm_on):
    """`times(rounds, nt, od, id)`: the samples of the same kernel on two sides, in µs."""
    from playground.measure.timing import Stopwatch

    made = build(gemm_f16_nt(TM=128), device.arch)

    def measure(rounds, *dims):
        workspace, _ = gemm_on(*dims)
        sides = {side: workspace.launcher(made) for side in ("first", "second")}
        with Stopwatch(device) as stopwatch:
            return stopwatch.measure(sides, rounds)

    return measure


def test_a_gemm_takes_longer_than_its_arithmetic_and_less_than_a_hundred_times_that(times):
    samples = times(20, 1024, 1024, 3584)
    flop = 2 * 1024 * 1024 * 3584
    assert list(samples) == ["first", "second"]
    for values in samples.values():
        assert values.shape == (20,)
        rate = flop / np.median(values) / 1e6  # TFLOP/s
        assert 5 < rate < 1000


def test_four_times_the_work_takes_about_four_times_as_long(times):
    one, four = (np.median(times(20, nt, 4096, 3584)["first"]) for nt in (2048, 8192))
    assert 3 < four / one < 5


def test_a_kernel_is_as_fast_as_itself_within_5_percent(times):
    samples = times(100, 2048, 3584, 3584)
    ratio = paired_ratio(samples["first"], samples["second"])
    assert ratio.low > 0.95
    assert ratio.high < 1.05


def test_the_sweep_is_larger_than_the_cache(device):
    from playground.measure.timing import Stopwatch

    with Stopwatch(device) as stopwatch:
        assert stopwatch.swept.bytes >= 2 * device.l2


def test_telemetry_reads_clocks_temperature_and_power_or_says_why_not(device, times):
    from playground.gpu.telemetry import Telemetry

    with Telemetry(device.pci_bus_id) as telemetry:
        times(20, 1024, 1024, 3584)
    summary = telemetry.summary
    if "missing" in summary:
        assert summary["missing"]
        return
    assert summary["readings"] >= 1
    for reading, least, most in (("sm_clock_mhz", 100, 5000), ("temperature_c", 5, 110), ("power_w", 1, 3000)):
        low, median, high = summary[reading]
        assert least <= low <= median <= high <= most


def test_cublas_agrees_with_the_reference_if_torch_is_there(device, gemm_on):
    pytest.importorskip("torch")
    from playground.measure.peers import peers
    from playground.measure.references import REFERENCES

    workspace, inputs = gemm_on(200, 384, 520)
    found = peers(workspace, REFERENCES["gemm_nt"](inputs))
    assert found
    assert all(peer.check().passed for peer in found.values())
