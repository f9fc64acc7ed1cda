"""The lane maps: the formula, what the emulator and the GPU dump, and a picture of it; a wrong map is exit status 1."""

import json

import matplotlib.style
import numpy as np
import pytest

import experiments
from experiments import lane_maps
from playground.errors import Refusal
from playground.report import plots, record
from playground.report.picture import lane_maps as picture
from playground.report.picture.page import STYLE
from playground.runner import Outcome


def owners_by_the_seed():
    """(row, column) -> (lane, place). Seed 001, §2: "lane L holds rows L>>2 and (L>>2)+8, columns 2·(L&3), 2·(L&3)+1
    (and the +8 offsets)"; §3.2: "x[0,1,4,5] → row r0, x[2,3,6,7] → row r1"."""
    owners = {}
    for lane in range(32):
        first_row, first_column = lane // 4, 2 * (lane % 4)
        for place, (down, right) in enumerate([(0, 0), (0, 1), (8, 0), (8, 1), (0, 8), (0, 9), (8, 8), (8, 9)]):
            owners[first_row + down, first_column + right] = lane, place
    return owners


def test_the_formula_is_the_seeds():
    owners, formula = owners_by_the_seed(), lane_maps.formula()
    assert len(owners) == 256
    for (row, column), (lane, place) in owners.items():
        assert formula[lane, place] == 16 * row + column


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where a run on the emulator has left its record and its picture."""
    results = tmp_path_factory.mktemp("results")
    assert lane_maps.main(["--on", "emulator", "--out", str(results)]) == 0
    return results / "emulator"


@pytest.fixture(scope="module")
def written(folder):
    """The record of that run."""
    (one,), _ = record.read(folder / "lane_maps.jsonl")
    return one


def test_the_emulator_dumps_the_seeds_map_for_both_fragments(written):
    dump = written["dumps"]["emulator"]
    assert list(dump["checks"].values()) == [True] * 5
    for (row, column), (lane, place) in owners_by_the_seed().items():
        assert dump["operand"][lane][place] == dump["accumulator"][lane][place] == 16 * row + column


@pytest.mark.gpu
def test_the_gpu_dumps_the_same(device, tmp_path, capsys):
    assert lane_maps.main(["--on", "gpu", "--json", "--out", str(tmp_path)]) == 0
    dumps = json.loads(capsys.readouterr().out)["dumps"]
    assert list(dumps) == ["emulator", device.name]
    assert dumps["emulator"] == dumps[device.name]
    assert (tmp_path / device.slug / "lane_maps.png").exists()


def test_json_is_the_record_and_nothing_else_on_standard_output(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(plots, "draw", lambda made, path: path)
    assert lane_maps.main(["--on", "emulator", "--json", "--out", str(tmp_path)]) == 0
    (kept,), _ = record.read(tmp_path / "emulator" / "lane_maps.jsonl")
    assert {"schema": record.SCHEMA, **json.loads(capsys.readouterr().out)} == kept


def test_both_maps_are_printed_and_the_answer_is_plain(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(plots, "draw", lambda made, path: path)
    assert lane_maps.main(["--on", "emulator", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    for title in ("A operand, f16, row-major, on the emulator", "accumulator, f32, on the emulator"):
        grid = said.split(title)[1].splitlines()[1:17]
        for row, line in enumerate(grid):
            cells = line.split()[2:]
            wanted = (owners_by_the_seed()[row, column] for column in range(16))
            assert cells == [f"{lane}.{place}" for lane, place in wanted]
    assert "yes  both agree, place by place" in said
    assert f"{tmp_path / 'emulator' / 'lane_maps.png'}" in said


def outcome(operand=None, accumulator=None, **more):
    """What a warp whose maps are the formula's would dump, or with other maps."""
    formula = lane_maps.formula()
    halves = np.hstack([formula, formula]) if operand is None else operand
    values = formula if accumulator is None else accumulator
    registers = halves.astype(np.float16, order="C").view(np.uint32)
    return Outcome({"operand": registers, "accumulator": values.astype(np.float32)}, **more)


def failed(dump):
    return [check for check, held in dump["checks"].items() if not held]


def test_a_map_that_is_not_the_formulas_is_named():
    formula = lane_maps.formula()
    swapped = formula[:, [0, 1, 4, 5, 2, 3, 6, 7]]
    operand, accumulator = "the A operand is the formula's", "the accumulator is the formula's"
    apart, repeats = "both agree, place by place", "the operand's registers 4 to 7 repeat 0 to 3"
    assert failed(lane_maps.dump_of(outcome())) == []
    assert failed(lane_maps.dump_of(outcome(accumulator=swapped))) == [accumulator, apart]
    assert failed(lane_maps.dump_of(outcome(operand=np.hstack([swapped, swapped])))) == [operand, apart]
    assert failed(lane_maps.dump_of(outcome(operand=np.hstack([formula, swapped])))) == [repeats]
    assert failed(lane_maps.dump_of(outcome(accumulator=np.full((32, 8), np.nan)))) == [accumulator, apart]
    assert failed(lane_maps.dump_of(outcome(written_outside=4))) == ["no hazard, nothing written outside"]


def test_a_wrong_map_is_exit_status_1_and_recorded_and_drawn(tmp_path, monkeypatch, capsys):
    """A multiplication by the identity upside down: the accumulator's rows come in the opposite order."""
    turned = {**lane_maps.inputs(), "identity": np.eye(16, dtype=np.float16)[::-1].copy()}
    monkeypatch.setattr(lane_maps, "inputs", lambda: turned)
    assert lane_maps.main(["--on", "emulator", "--out", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert " NO  the accumulator is the formula's" in said and "yes  the A operand is the formula's" in said
    (wrong,), _ = record.read(tmp_path / "emulator" / "lane_maps.jsonl")
    assert not lane_maps.agrees(wrong)
    assert "NOT so: the accumulator is the formula's" in words(wrong)


def words(one):
    with matplotlib.style.context(STYLE, after_reset=True):
        return " ".join(text.get_text() for text in picture.figure(one).texts)


def test_the_picture_names_lane_and_register_of_every_element(written):
    said = words(written).split()
    for lane in range(32):
        assert said.count(str(lane)) >= 16
    for place in range(8):
        assert said.count(f"x{place}") >= 32
        assert said.count(f"a{place // 2}.{('lo', 'hi')[place % 2]}") >= 32
    assert "no GPU" in words(written) and "held: the accumulator is the formula's" in words(written)


def test_no_text_of_the_picture_leaves_the_page(written):
    with matplotlib.style.context(STYLE, after_reset=True):
        figure = picture.figure(written)
        figure.draw_without_rendering()
        for text in figure.texts:
            box = text.get_window_extent()
            assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1, text


def test_the_same_record_gives_the_same_bytes_and_plot_only_redraws(folder, capsys):
    drawn = (folder / "lane_maps.png").read_bytes()
    (folder / "lane_maps.png").unlink()
    assert lane_maps.main(["--plot-only", "--out", str(folder.parent)]) == 0
    assert capsys.readouterr().out == f"{folder / 'lane_maps.png'}\n"
    assert (folder / "lane_maps.png").read_bytes() == drawn
    assert len(record.read(folder / "lane_maps.jsonl")[0]) == 1


def test_it_is_a_module_of_its_own_and_no_probe():
    assert "lane_maps" not in experiments.names()
    with pytest.raises(Refusal, match=r"lane_maps is not a probe: run python -m experiments\.lane_maps"):
        experiments.load("lane_maps")


def test_only_modules_that_assign_a_probe_are_listed(tmp_path, monkeypatch):
    sources = {
        "real": "probe = Probe()",
        "typed": "probe: Probe = Probe()",
        "broken": "probe = (",
        "_draft": "probe = Probe()",
        "other": "from playground import Probe\n# probe = Probe()",
        "named": "probes = []",
    }
    for name, source in sources.items():
        (tmp_path / f"{name}.py").write_text(f'"""A docstring."""\n\n{source}\n')
    monkeypatch.setattr(experiments, "FOLDER", tmp_path)
    assert experiments.names() == ["broken", "real", "typed"]


def test_options_of_a_probe_that_make_no_sense_here_are_refused(capsys):
    assert lane_maps.main(["--shape", "1x1"]) == 2
    assert "--shape" in capsys.readouterr().err
