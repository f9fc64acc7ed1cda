"""The table of all claims: from records of a GPU where there are any."""

from playground.report import marks, record

KEYS = record.KINDS["probe"]
CLAIM = {"says": "blocks halve", "source": "ours", "test": {"kind": "none", "because": "no test can tell"}}
BLOCKS = {"kind": "ledger", "figure": "blocks per SM", "low": 1, "high": 1, "of": "k()", "baseline": "k()"}


def keep(path, gpu, blocks):
    ledgers = {"GB10": {"blocks_per_sm": blocks}}
    variants = [{"label": "k()", "name": "k", "parameters": {}, "ledgers": ledgers}]
    record.append(path, dict.fromkeys(KEYS) | {"gpu": gpu, "variants": variants, "emulated": [], "shapes": []})


def test_a_run_without_a_gpu_does_not_speak_beside_one_with(tmp_path):
    claims = {"probe": [CLAIM | {"test": BLOCKS | {"candidate": "k()"}}]}
    for folder in ("emulator", "nvidia-h200"):
        (tmp_path / folder).mkdir()
    keep(tmp_path / "emulator" / "probe.jsonl", None, 3)
    assert [(row.gpu, row.mark) for row in marks.rows(tmp_path, claims)] == [("GB10", "refuted")]
    keep(tmp_path / "nvidia-h200" / "probe.jsonl", {"name": "NVIDIA H200"}, 1)
    assert [(row.gpu, row.mark) for row in marks.rows(tmp_path, claims)] == [("GB10", "supported")]


def test_what_was_not_run_is_untested(tmp_path):
    (row,) = marks.rows(tmp_path, {"probe": [CLAIM]})
    assert (row.mark, row.numbers) == ("untested", "not run yet")
