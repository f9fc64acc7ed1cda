"""The experiment of the whole prefill, as far as it goes without a GPU."""

from experiments import prefill_wall
from playground.report import plots, record


def test_without_a_gpu_it_emulates_a_layer_lists_the_work_and_says_that_nothing_was_timed(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(prefill_wall, "CONFIGURATIONS", prefill_wall.CONFIGURATIONS[-1:])
    assert prefill_wall.main(["--on", "emulator", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert printed.count(" held: ") == 2
    assert "hazards padded: none" in printed
    assert "not timed: no GPU" in printed
    head = next(line.split() for line in printed.splitlines() if line.startswith("head"))
    assert head == ["head", "1", "1.1", "1.091"]  # 2 · 152,064 · 3584 FLOP on as many f16
    path = tmp_path / "emulator" / "prefill_wall.jsonl"
    (kept,), warnings = record.read(path)
    assert warnings == []
    assert (kept["gpu"], kept["wall"]) == (None, None)
    assert plots.redraw(tmp_path) == [path.with_suffix(".png")]
    kept["emulated"]["padded"]["parity"]["decode"]["passed"] = False
    assert not prefill_wall.held(kept)
