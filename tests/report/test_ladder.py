"""The picture of the ladder: what it reads from the records of its five probes, and what it shows and refuses."""

import warnings
from itertools import combinations

import matplotlib.style
import numpy as np
import pytest

import experiments
from experiments._ladder import RUNGS
from playground.__main__ import main
from playground.errors import Refusal
from playground.measure.verdict import judge
from playground.report import ladder, plots, record
from playground.report.picture.ladder.figure import figure
from playground.report.picture.page import STYLE
from playground.report.picture.samples import four_digits

H200 = {"name": "NVIDIA H200", "arch": "sm_90", "sms": 132, "l2_bytes": 60 << 20, "cuda_driver": 13000}
MICROSECONDS = {
    "8n": (900, 9800),
    "P5·0": (420, 4700),
    "P5·3, first cut": (260, 2600),
    "P5·3": (150, 1450),
    "FAP1": (156, 1500),
    "FAP2": (80, 690),
}
FLASH, CUDNN = "SDPA flash, f16 out", "SDPA cuDNN, f16 out"
PEERS = {FLASH: (24.1, 140), CUDNN: (19.3, 98)}
PROMPTS = (512, 2048)
GATE = {"passed": True}


def kernel_of(name):
    """The kernel that the experiments mean by a rung."""
    for rung in RUNGS:
        if rung.probe and name in (rung.name, rung.before):
            probe = experiments.load(rung.probe)
            return probe.candidates[0] if rung.name == name else probe.baseline


def variant(name):
    kernel = kernel_of(name)
    ledger = {"arch": "sm_90", "threads": kernel.threads, "registers": 100 + len(name), "spill_stores": 0, "stack": 0}
    ledger |= {"spill_loads": 0, "static_shared": 0, "dynamic_shared": kernel.layout.bytes, "blocks_per_sm": 1}
    parameters = dict(kernel.parameters)
    return {"label": str(kernel), "name": kernel.name, "parameters": parameters, "ledgers": {"H200": ledger}}


def counts(name):
    """Of three tiles of 64 keys, or six of 32: 4 barriers each, 300 KB per 64 × 64 scores, conflicts of degree 2."""
    tiles = 3 * 64 // kernel_of(name).parameters["TKV"]
    return {
        "barriers": 4 * tiles,
        "inst_executed": 3 * 17_000,
        "shared_load_bytes": 3 * 300 * 1024,
        "shared_load_wavefronts": 5000,
        "shared_load_wavefronts_ideal": 2500,
    }


def untimed(rung):
    names = (rung.before, rung.name)
    return {
        "time": "2026-11-29T16:28:26+00:00",
        "probe": rung.probe,
        "question": "How much?",
        "claim": None,
        "predictions": [],
        "bar": 0.015,
        "share": None,
        "versions": {},
        "contract": "attention_hd128",
        "commit": "3f2a91c04be1d6f7a8899b0011223344556677aa",
        "dirty": False,
        "gpu": None,
        "variants": [variant(name) for name in names],
        "emulated": [
            {
                "dims": {"nt": 128, "nh": 1, "nk": 1, "kv": 128},
                "counts": {str(kernel_of(name)): counts(name) for name in names},
            }
        ],
        "shapes": [],
        "verdicts": {},
    }


def samples(microseconds):
    return [microseconds * (1 + 0.01 * np.sin(sample)) for sample in range(40)]


def timed(rung, peers=PEERS):
    made = untimed(rung) | {"gpu": H200}
    before, after = (one["label"] for one in made["variants"])
    for place, nt in enumerate(PROMPTS):
        sides = {before: MICROSECONDS[rung.before][place], after: MICROSECONDS[rung.name][place]}
        sides |= {peer: times[place] for peer, times in peers.items()}
        made["shapes"].append(
            {
                "dims": {"nt": nt, "nh": 28, "nk": 4, "kv": nt},
                "peer_parity": dict.fromkeys(peers, GATE),
                "samples_us": {side: samples(time) for side, time in sides.items()},
            }
        )
    judged = [judge(*(shape["samples_us"][side] for side in (before, after, before))) for shape in made["shapes"]]
    made["verdicts"] = {after: {"per_shape": [one.as_record() for one in judged]}}
    return made


STEPS = [rung for rung in RUNGS if rung.probe]
LADDERS = {
    "timed": lambda: {rung.probe: timed(rung) for rung in STEPS},
    "without peers": lambda: {rung.probe: timed(rung, {}) for rung in STEPS},
    "emulated only": lambda: {rung.probe: untimed(rung) for rung in STEPS},
    "one probe": lambda: {"fa_fap1": timed(STEPS[3])},
    "one probe, emulated": lambda: {"fa_register_softmax": untimed(STEPS[4])},
}


def write(folder, made):
    for probe, one in made.items():
        record.prepare(folder / f"{probe}.jsonl")
        record.append(folder / f"{probe}.jsonl", one)


def drawn(name):
    with matplotlib.style.context(STYLE, after_reset=True), warnings.catch_warnings():
        warnings.simplefilter("error")
        drawing = figure(ladder.Ladder(RUNGS, LADDERS[name]()))
        drawing.draw_without_rendering()
    return drawing


def words(name):
    return " ".join(text.get_text() for text in drawn(name).texts)


def test_the_rungs_are_those_of_the_experiments_in_their_order():
    for rung in STEPS:
        probe = experiments.load(rung.probe)
        assert str(probe.baseline) == str(kernel_of(rung.before))
        assert str(probe.candidates[0]) == str(kernel_of(rung.name))
    labels = [str(kernel_of(rung.name)) for rung in RUNGS]
    assert len(set(labels)) == len(labels) == 6


def test_the_sources_times_are_its_probes_claims():
    for rung in STEPS:
        if rung.source_ms:
            before, after = rung.source_ms
            assert experiments.load(rung.probe).claim.effect == pytest.approx(before / after - 1)


def test_tiles_follow_the_causal_mask():
    assert ladder.tiles({"nt": 128, "nh": 1, "nk": 1, "kv": 128}, 64) == 1 + 2
    assert ladder.tiles({"nt": 128, "nh": 3, "nk": 1, "kv": 128}, 32) == 3 * (2 + 4)
    assert ladder.tiles({"nt": 65, "nh": 1, "nk": 1, "kv": 130}, 64) == 3 + 3
    assert ladder.tiles({"nt": 1, "nh": 1, "nk": 1, "kv": 1}, 64) == 1


def test_a_rung_has_a_time_from_every_run_that_timed_it():
    found = ladder.Ladder(RUNGS, LADDERS["timed"]())
    dims = {"nt": 2048, "nh": 28, "nk": 4, "kv": 2048}
    assert [dims["nt"] for dims in found.shapes()] == list(PROMPTS)
    assert [len(found.medians(rung.name, dims)) for rung in RUNGS] == [1, 2, 2, 3, 1, 1]
    assert found.medians("P5·3", dims) == pytest.approx([1450] * 3, rel=0.01)
    assert found.step(STEPS[4], dims)["median"] == pytest.approx(1450 / 690)
    assert found.peers(dims)[CUDNN] == pytest.approx([98] * 5, rel=0.01)
    assert found.over_peer("FAP2", CUDNN, dims) == pytest.approx(690 / 98)
    assert found.over_peer("FAP2", "no such peer", dims) is None


@pytest.mark.parametrize("name", LADDERS)
def test_no_text_overlaps_another_or_leaves_the_page(name):
    drawing = drawn(name)
    boxes = [(text.get_text(), text.get_window_extent()) for text in drawing.texts if text.get_text()]
    assert len(boxes) > 40
    off_page = [text for text, box in boxes if box.x0 < 0 or box.y0 < 0 or box.x1 > drawing.bbox.x1]
    assert off_page == []
    overlapping = [
        (text, other)
        for (text, one), (other, two) in combinations(boxes, 2)
        if min(one.x1, two.x1) > max(one.x0, two.x0) and min(one.y1, two.y1) > max(one.y0, two.y0) + 2
    ]
    assert overlapping == []


def test_the_picture_says_times_steps_peers_counts_and_the_sources_figures():
    said = words("timed")
    for text in ("nt = 512", "nt = 2,048", "NVIDIA H200 (sm_90, 132 SMs)", "commit 3f2a91c0", FLASH, CUDNN):
        assert text in said
    for step in ("2.14×", "2.09×", "0.96×", "1.88×", "2.10×"):
        assert step in said
    assert "FAP2 7.0×" in said and "FAP2 4.1×" in said
    for time in ("10.06 → 4.24", "4.25 → 1.92", "5.16 → 4.58", "5.16 → 2.12", "with the next"):
        assert time in said
    assert "The source's own, on its GB10" in said
    assert said.split().count("69,376") == 1 and said.split().count("34,816") == 1
    assert said.split().count("300") == 6 and said.split().count("17,000") == 6 and said.split().count("2.00") == 6
    assert "Spills: none." in said


def test_without_times_the_counts_stand_alone():
    said = words("emulated only")
    assert "not timed: no GPU" in said and "no GPU · commit 3f2a91c0" in said
    assert "nt = " not in said and "median time" not in said and "step" not in said
    assert "69,376" in said and "10.06 → 4.24" in said


def test_probes_without_a_record_are_named():
    said = words("one probe")
    assert "no record of fa_pv_tensor_cores, fa_parallel_softmax, fa_padded_rows, fa_register_softmax" in said
    assert all(four_digits(np.median(samples(time))) in said for time in (150, 156))
    assert said.count("not timed") == 2 * 4


def test_a_spill_is_named():
    made = LADDERS["emulated only"]()
    for one in (one for found in made.values() for one in found["variants"]):
        if "softmax=registers" in one["label"]:
            one["ledgers"]["H200"]["spill_loads"] = 24
    with matplotlib.style.context(STYLE, after_reset=True):
        texts = [text.get_text() for text in figure(ladder.Ladder(RUNGS, made)).texts]
    assert any("Spills: FAP2 on H200: 24 B." in text for text in texts)


def test_records_that_mean_different_kernels_by_a_rung_are_refused(tmp_path):
    made = LADDERS["timed"]()
    made["fa_fap1"]["variants"][0] = variant("P5·0")
    write(tmp_path / "nvidia-h200", made)
    with pytest.raises(Refusal, match=r"the rung P5·0 is|the rung P5·3 is fa_prefill\([^\n]*run the older probe again"):
        plots.redraw_ladders(tmp_path, RUNGS)


def test_every_folder_with_records_gets_the_same_bytes_each_time(tmp_path, capsys):
    write(tmp_path / "nvidia-h200", LADDERS["emulated only"]())  # older records of the same probes
    write(tmp_path / "nvidia-h200", LADDERS["timed"]())
    write(tmp_path / "emulator", LADDERS["emulated only"]())
    (tmp_path / "nothing").mkdir()
    with (tmp_path / "nvidia-h200" / "fa_fap1.jsonl").open("a") as file:
        file.write('{"schema": 1, "cut sho')
    pictures = [tmp_path / folder / "fa_ladder.png" for folder in ("emulator", "nvidia-h200")]
    assert main(["ladder", "--out", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [str(path) for path in pictures]
    assert captured.err.count("not a record") == 1
    first = [path.read_bytes() for path in pictures]
    assert first[0] != first[1]
    with matplotlib.rc_context({"font.size": 30, "axes.grid": True}):
        assert plots.redraw_ladders(tmp_path, RUNGS) == pictures
    assert [path.read_bytes() for path in pictures] == first
    assert not any(chunk in first[1] for chunk in (b"tEXt", b"tIME"))


def test_without_any_record_it_is_refused_in_one_line(tmp_path, capsys):
    for folder in (tmp_path, tmp_path / "missing"):
        assert main(["ladder", "--out", str(folder)]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert f"no record of {', '.join(rung.probe for rung in STEPS)} in {folder}" in captured.err
        assert captured.err.count("\n") == 1
