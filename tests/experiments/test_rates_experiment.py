"""The rates: a run without a GPU checks every kernel and times none; a failed check is exit status 1."""

import copy

import pytest

import experiments
from experiments import rates
from playground.errors import Refusal
from playground.report import plots, record
from playground.report.known_rates import known_rates


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """(the folder of the results, the record) of a run on the emulator."""
    results = tmp_path_factory.mktemp("results")
    assert rates.main(["--on", "emulator", "--out", str(results)]) == 0
    (one,), warnings = record.read(results / "emulator" / "rates.jsonl")
    assert not warnings
    return results, one


def test_without_a_gpu_every_kernel_is_checked_and_none_timed(run):
    _, one = run
    assert (one["probe"], one["gpu"], one["rates"]) == ("rates", None, {})
    assert len(one["checks"]) == 14
    for found in one["checks"].values():
        assert set(found) == {"emulated result", "no hazard", "counts as claimed", "machine code as claimed"}
        assert False not in found.values()


def test_a_check_that_failed_fails_the_run_and_one_that_was_not_made_does_not(run):
    _, one = run
    name = next(iter(one["checks"]))
    changed = copy.deepcopy(one)
    changed["checks"][name]["machine code as claimed"] = None
    assert rates.held(changed)
    changed["checks"][name]["no hazard"] = False
    assert not rates.held(changed)


def test_the_record_has_no_picture_and_drawing_all_others_goes_on(run, capsys):
    results, one = run
    assert not plots.has_picture(one)
    assert not list(results.glob("*/*.png"))
    with pytest.raises(Refusal, match="nothing to draw"):
        plots.redraw(results)
    assert rates.main(["--plot-only", "--out", str(results)]) == 2
    assert "nothing to draw" in capsys.readouterr().err


def test_a_record_without_a_gpu_changes_no_rate(run, tmp_path):
    results, _ = run
    assert known_rates(results) == known_rates(tmp_path)


def test_it_is_no_probe():
    assert "rates" not in experiments.names()


def test_the_table_tells_value_spread_and_what_is_published(capsys):
    from playground.report.narrator import console

    measured = {"value": 1.0, "median": 0.98, "unit": "u", "samples": [0.95, 0.98, 1.0], "clock_hz": 1.98e9}
    known = {"shared_wavefronts_per_cycle_sm": (1.25, "a source")}
    console().print(rates.rates_table({"shared_wavefronts_per_cycle_sm": measured}, known))
    row = capsys.readouterr().out.splitlines()[1].split()
    assert row[1:] == ["1", "0.98", "5.1%", "1,980", "1.25", "u", "a", "source"]


@pytest.mark.gpu
def test_a_gpu_is_measured_and_its_rates_are_near_what_is_published(device, tmp_path):
    from playground.measure.microbenchmarks.published import published

    assert rates.main(["--on", "gpu", "--out", str(tmp_path)]) == 0
    (one,), _ = record.read(tmp_path / device.slug / "rates.jsonl")
    for name, (value, _) in published(device.name, device.arch).items():
        assert 0.7 * value < one["rates"][name]["value"] < 1.02 * value, name
    assert 5e8 < one["rates"]["clock_hz"]["value"] < 4e9
    assert one["rates"]["l2_latency_seconds"]["value"] < one["rates"]["dram_latency_seconds"]["value"]
