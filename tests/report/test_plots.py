"""Pictures of plausible records: real ledgers, noise for samples, verdicts by the real judge."""

import copy
import functools
import json
import math
import warnings

import matplotlib.style
import numpy as np
import pytest

from playground.errors import Refusal
from playground.measure import mechanisms
from playground.measure.verdict import judge
from playground.report import plots, record
from playground.report.picture import page, sides
from playground.report.picture.samples import swarm

H200, GB10 = "NVIDIA H200", "GB10"
LAYER = {
    (2048, 3584, 3584): ("q", "o"),
    (2048, 512, 3584): ("k", "v"),
    (2048, 18944, 3584): ("gate", "up"),
    (2048, 3584, 18944): ("down",),
}
NEEDS = "needs 196,608 bytes of shared memory per block: sm_121 has 101,376"
BARRIERS = "16 warps at 100 registers leave one block per SM: no second one covers its barriers"
CLAIM = {"gpu": GB10, "effect": -0.03, "verdict": "reverted", "level": "wall", "source": "seed 000, §3.3 TM=256"}
ONE_SHAPE = {(2048, 3584, 3584): ("",)}
CUBLAS = "cuBLAS, f16 out"
OURS, LIBRARY = (168.0, 121.0, 140.0, 167.0), (660.0, 469.0, 797.0, 650.0)
"""TFLOP/s of the baseline and of cuBLAS, as measured on an H200."""


def ledger(arch, threads, registers, shared, blocks, limiter, spills=0):
    return {
        "arch": arch,
        "threads": threads,
        "registers": registers,
        "spill_stores": spills,
        "spill_loads": spills,
        "stack": 0,
        "local": 0,
        "static_shared": 0,
        "dynamic_shared": shared,
        "blocks_per_sm": blocks,
        "limiter": limiter,
        "instruction_mix": None,
    }


def variant(TM, KS, warps, at_hand, source, **more):
    parameters = {"TM": TM, "KS": KS, "warps": warps, "pad": 0, **more}
    label = f"gemm_f16_nt({', '.join(f'{name}={value}' for name, value in parameters.items())})"
    ledgers = {H200: at_hand, GB10: source}
    return {"label": label, "name": "gemm_f16_nt", "parameters": parameters, "ledgers": ledgers}


TM128 = variant(
    128, 32, 8,
    ledger("sm_90", 256, 100, 32768, 2, "registers"),
    ledger("sm_121", 256, 76, 32768, 3, "shared memory"),
)  # fmt: skip
TM256 = variant(
    256, 32, 16,
    ledger("sm_90", 512, 100, 57344, 1, "registers"),
    ledger("sm_121", 512, 77, 57344, 1, "shared memory"),
)  # fmt: skip
TM256_8 = variant(
    256, 32, 8,
    ledger("sm_90", 256, 154, 49152, 1, "registers", spills=24),
    ledger("sm_121", 256, 116, 49152, 2, "shared memory"),
)  # fmt: skip
PINNED_128, PINNED_256 = (
    variant(
        TM, 32, warps,
        ledger("sm_90", 32 * warps, 100, 115840, 1, "shared memory"),
        ledger("sm_121", 32 * warps, 76, 57344, 1, "shared memory"),
        blocks_per_sm=1,
    )
    for TM, warps in ((128, 8), (256, 16))
)  # fmt: skip
TOO_LARGE = variant(
    256, 128, 16,
    ledger("sm_90", 512, 168, 196608, 1, "shared memory"),
    {"refused": f"gemm_f16_nt(TM=256, KS=128, warps=16, pad=0) {NEEDS}"},
)  # fmt: skip
GATE = {"passed": True, "output": "C", "max_error": 1e-3, "worst": 0.2, "tolerance": "f32 accumulation"}


def samples(rng, microseconds, rounds=100, noise=0.006):
    """Right-skewed noise with a shared drift and a stray launch or two."""
    values = microseconds * (1 + noise * rng.gamma(2, 0.5, rounds))
    values[rng.random(rounds) < 0.015] *= 1.12
    return [round(float(value), 3) for value in values]


def plausible(
    variants=(TM128, TM256, TM256_8), speed=(0.962, 0.91), layer=LAYER, failed=(), peers=True, noise=0.006, **changed
):
    """A record as `walk` makes it. speed: of each candidate. failed: labels whose parity failed everywhere."""
    rng = np.random.default_rng(7)
    labels = [one["label"] for one in variants]
    shapes = []
    for (dims, roles), rate, library in zip(layer.items(), OURS, LIBRARY):
        flop = 2 * math.prod(dims)
        time = flop / rate / 1e6
        sides = dict(zip(labels, [time, *(time / one for one in speed)]))
        sides = {label: time for label, time in sides.items() if label not in failed} | {"A/A": time}
        sides |= {CUBLAS: flop / library / 1e6} if peers else {}
        shape = {
            "dims": dict(zip(("nt", "od", "id"), dims)),
            "roles": list(roles),
            "flop": flop,
            "unit": "TFLOP/s",
            "seed": 1,
            "inputs": "normal",
            "parity": {label: {**GATE, "passed": label not in failed} for label in labels},
        }
        if len(sides) > 2 + peers:
            shape |= {
                "peer_parity": {CUBLAS: GATE} if peers else {},
                "samples_us": {side: samples(rng, time, noise=noise) for side, time in sides.items()},
                "telemetry": {
                    "readings": 90,
                    "throttle_reasons": ["power cap"],
                    "sm_clock_mhz": [1750.0, 1905.0 + 5 * len(shapes), 1980.0],
                    "power_w": [400.0, 612.0 + len(shapes), 690.0],
                },
            }
        shapes.append(shape)
    return {
        "time": "2026-11-29T16:28:26+00:00",
        "probe": "gemm_tm256",
        "question": "Does TM=256 pay for its shared memory?",
        "claim": CLAIM,
        "predictions": [
            {"gpu": "H200", "low": 0.9, "high": 1.0, "because": BARRIERS},
            {"gpu": "GB10", "low": 0.95, "high": 0.99, "because": "one block per SM against three"},
        ],
        "bar": 0.015,
        "share": {"fraction": 0.7, "source": "seed 000, §5"},
        "commit": "3f2a91c04be1d6f7a8899b0011223344556677aa",
        "dirty": True,
        "versions": {"python": "3.11.7", "torch": None},
        "gpu": {"name": H200, "arch": "sm_90", "sms": 132, "l2_bytes": 60 << 20, "cuda_driver": 13000},
        "contract": "gemm_nt",
        "variants": list(variants),
        "emulated": [],
        "shapes": shapes,
        "verdicts": verdicts(labels, shapes),
    } | changed  # fmt: skip


def verdicts(labels, shapes):
    """As walk judges: per candidate that was timed on every shape."""
    judged = {}
    for position, label in enumerate(labels[1:]):
        if all({labels[0], label} <= shape.get("samples_us", {}).keys() for shape in shapes):
            sides = [[np.array(shape["samples_us"][side]) for shape in shapes] for side in (labels[0], label, "A/A")]
            total = [sum(len(shape["roles"]) * one for shape, one in zip(shapes, side)) for side in sides]
            judged[label] = {
                **judge(*total).as_record(),
                "prediction": None if position else "held",
                "wall": judge(*total, share=0.7).as_record(),
                "per_shape": [judge(*one).as_record() for one in zip(*sides)],
            }
    return judged


def explained():
    """Two controls, and a claim of each kind, with all three marks."""
    made = plausible((TM128, TM256, PINNED_128, PINNED_256), speed=(0.91, 0.8, 0.79))
    made["variants"], made["controls"] = made["variants"][:2], made["variants"][2:]
    made["verdicts"] = {TM256["label"]: made["verdicts"][TM256["label"]]}
    pair = {"baseline": TM128["label"], "candidate": TM256["label"]}
    control = {"kind": "control run", **pair, "without": [PINNED_128["label"], PINNED_256["label"]]}
    blocks = {"kind": "ledger", "figure": "blocks per SM", "low": 0.3, "high": 0.4, "of": None, **pair}
    statements = [
        {"says": f"resident blocks fall, {BARRIERS}", "source": "seed 000, §3.3", "test": blocks},
        {"says": "it loses by the blocks that no longer fit", "source": "ours", "test": control},
        {"says": "it stalls", "source": "ours", "test": {"kind": "none", "because": "no kernel here tells"}},
    ]
    return made | {"mechanisms": mechanisms.judge(made, statements)}


def without_gpu():
    variants = copy.deepcopy([TM128, TM256, TOO_LARGE])
    for one in variants:
        one["ledgers"] = {GB10: one["ledgers"][GB10], "H200": one["ledgers"][H200]}
    return plausible(variants, gpu=None, shapes=[], verdicts={}, commit=None, dirty=None)


def without_telemetry():
    made = plausible(layer=ONE_SHAPE)
    for shape in made["shapes"]:
        shape["telemetry"] = {"missing": "NVML Shared Library Not Found"}
    return made


def failed_on_one_shape():
    """A candidate that failed on the second shape only, a peer that failed on the first."""
    made = plausible()
    label = TM256["label"]
    del made["shapes"][1]["samples_us"][label], made["verdicts"][label], made["shapes"][0]["samples_us"][CUBLAS]
    made["shapes"][1]["parity"][label] = {**GATE, "passed": False}
    made["shapes"][0]["peer_parity"] = {CUBLAS: {**GATE, "passed": False}}
    return made


def wordy():
    """Long texts everywhere, mathematical and otherwise odd characters."""
    made = plausible(noise=0.03)
    made["question"] = "Do half the B re-reads and half the barriers make TM=128 faster than $TM_{64}$ = 64? " * 3
    made["claim"] = {**CLAIM, "source": "https://example.org/" + "a_very_long_address/" * 12}
    made["predictions"][0]["because"] *= 3
    return made


def six_shapes():
    made = plausible()
    made["shapes"] += copy.deepcopy(made["shapes"][:2])
    made["verdicts"] = verdicts([one["label"] for one in made["variants"]], made["shapes"])
    return made


def long_names():
    """Five parameters that differ, and dimensions as long as they get."""
    at_hand, source = TM128["ledgers"].values()
    variants = [
        variant(TM, KS, warps, at_hand, source, stages=stages, swizzle=TM, accumulators=warps)
        for TM, KS, warps, stages in ((128, 32, 8, 2), (256, 64, 16, 4), (256, 128, 32, 3))
    ]
    return plausible(variants, layer={(131072, 152064, 18944 + wider): ("a", "b", "c" * 9) for wider in range(4)})


def baseline_failed():
    made = plausible(failed=(TM128["label"],))
    for shape in made["shapes"]:
        for key in ("samples_us", "telemetry", "peer_parity"):
            del shape[key]
    made["verdicts"] = {}
    return made


def with_floors():
    """Every variant's floor is 0.8 of its median, but the last one's, which has none."""
    made = plausible()
    *labels, without = (one["label"] for one in made["variants"])
    for shape in made["shapes"]:
        own = {label: {"us": 0.8 * float(np.median(shape["samples_us"][label]))} for label in labels}
        made.setdefault("floors", []).append({"gpus": {"H200": {**own, without: {"refused": "no floor"}}}})
    return made | {"floor_rates": {"H200": "published"}}


def claimed(effect, level, measured):
    return plausible([TM128, TM256], (measured,), claim={**CLAIM, "effect": effect, "level": level})


def pipeline():
    """The baseline is two kernels, of which the first was timed alone."""
    first = {"label": "convert_f32_f16(per_lane=8)", "name": "convert_f32_f16"}
    first["ledgers"] = {
        H200: ledger("sm_90", 256, 19, 0, 8, "threads"),
        GB10: ledger("sm_121", 256, 18, 0, 6, "threads"),
    }
    both = {"label": f"{first['label']} → {TM128['label']}", "name": "convert_f32_f16 → gemm_f16_nt"}
    both |= {"parameters": {"per_lane": 8, **TM128["parameters"]}, "steps": [first, TM128]}
    ratio = {"median": 1.0147, "low": 1.0141, "high": 1.0153}
    return plausible([both, TM256], (0.95,), upper_bounds={first["label"]: {"ratio": ratio, "wall": None}})


def wall_measured():
    """Whole prefills were timed, of which Amdahl had said something else."""
    made = plausible([TM128, TM256], (0.95,), wall={"tokens": 2048})
    walls = [np.array([1.0, 1.001, 0.999] * 4) * scale for scale in (1, 1.25, 1)]
    made["verdicts"][TM256["label"]]["wall_measured"] = judge(*walls).as_record()
    return made


CASES = {
    "reverted": plausible,
    "landed_one_candidate": lambda: claimed(0.507, "kernel", measured=1.32),
    "claim_far_away": lambda: claimed(-0.38, "wall", measured=0.999),
    "inconclusive": lambda: plausible(noise=0.12, speed=(1.01, 1.02), layer=ONE_SHAPE),
    "peer_close": lambda: plausible(speed=(3.7, 3.6), layer=ONE_SHAPE),
    "refused_on_gb10": lambda: plausible([TM128, TOO_LARGE], (1.1,), layer=ONE_SHAPE),
    "one_shape": lambda: plausible(layer=ONE_SHAPE),
    "two_shapes_of_the_user": lambda: plausible(layer={(2048, 3584, 3584): ("",), (2048, 512, 3584): ("",)}),
    "six_shapes": six_shapes,
    "long_names": long_names,
    "baseline_failed": baseline_failed,
    "no_peers": lambda: plausible(peers=False, layer=ONE_SHAPE),
    "parity_failed": lambda: plausible(failed=(TM256_8["label"],)),
    "first_candidate_failed": lambda: plausible(failed=(TM256["label"],), layer=ONE_SHAPE),
    "failed_on_one_shape": failed_on_one_shape,
    "everything_failed": lambda: plausible(failed=(TM128["label"], TM256["label"], TM256_8["label"])),
    "no_gpu": without_gpu,
    "no_telemetry": without_telemetry,
    "no_predictions": lambda: plausible(predictions=[], layer=ONE_SHAPE),
    "wordy": wordy,
    "pipeline": pipeline,
    "floors": with_floors,
    "wall_measured": wall_measured,
    "explained": explained,
}


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a missing glyph, identical limits, more ticks than fit
        yield


@functools.cache
def picture(name):
    """The figure of a case, laid out as `draw` lays it out."""
    with matplotlib.style.context(page.STYLE, after_reset=True):
        figure = plots.figure(CASES[name]())
        figure.draw_without_rendering()
    return figure


def shown(figure):
    """The texts on the page: its own, and the labels of the ticks that lie on their axis."""
    ticks = [
        tick.label1
        for axes in figure.axes
        for tick in axes.xaxis.get_major_ticks()
        if axes.get_xlim()[0] <= tick.get_loc() <= axes.get_xlim()[1]
    ]
    return [text for text in (*figure.texts, *ticks) if text.get_text().strip()]


def words(name):
    """Everything that the picture of a case says, as one text."""
    return " ".join(text.get_text() for text in shown(picture(name)))


@pytest.mark.parametrize("name", CASES)
def test_no_text_overlaps_another_or_leaves_the_page(name):
    figure = picture(name)
    texts = shown(figure)
    assert len(texts) > 30
    left, bottom, right, top = np.array([text.get_window_extent().extents for text in texts]).T
    off_page = (left < 0) | (right > figure.bbox.x1) | (bottom < 0) | (top > figure.bbox.y1)
    assert [texts[index].get_text() for index in np.flatnonzero(off_page)] == []
    wide = np.minimum.outer(right, right) - np.maximum.outer(left, left)
    tall = np.minimum.outer(top, top) - np.maximum.outer(bottom, bottom)
    overlap = (wide > 0) & (tall > 2)  # pixels: a box has room for letters deeper than those it holds
    pairs = np.argwhere(np.triu(overlap, k=1))
    assert [(texts[one].get_text(), texts[other].get_text()) for one, other in pairs] == []


def test_the_mechanisms_are_drawn_with_their_marks_and_the_two_by_two_table():
    """Pinned to one block per SM, 0.80 against 0.79 of the speed: of the loss to 0.91 almost nothing is left."""
    said = words("explained")
    assert "blocks per SM 2 → 1, a factor of 0.5, claimed 0.3 to 0.4" in said
    marks = [text.get_text() for text in picture("explained").texts if text.get_text() in mechanisms.MARKS]
    assert marks == ["refuted", "supported", "supported", "untested"]
    assert "removing it gains" in said
    table = explained()["mechanisms"][1]["marks"][0]
    assert table["effect"]["median"] == pytest.approx(0.91, rel=0.01)
    assert table["effect_without"]["median"] == pytest.approx(0.79 / 0.8, rel=0.01)
    assert f"{table['effect']['median']:.3f}" in said
    assert "Mechanisms" not in words("reverted")


@pytest.mark.parametrize("name", ["reverted", "no_gpu"])
def test_the_same_record_gives_the_same_bytes(name, tmp_path):
    case = CASES[name]()
    first = plots.draw(case, tmp_path / "first.png").read_bytes()
    case = json.loads(json.dumps(case)) | {"unknown": "to this version"}
    with matplotlib.rc_context({"font.size": 30, "savefig.dpi": 20, "axes.grid": True}):
        before = dict(matplotlib.rcParams)
        assert plots.draw(case, tmp_path / "second.png").read_bytes() == first
        assert dict(matplotlib.rcParams) == before
    assert int.from_bytes(first[16:20]) == 1600
    assert not any(chunk in first for chunk in (b"tEXt", b"tIME"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.png", "second.png"]


SAID = """
    Does TM=256 pay for its shared memory?
    NVIDIA H200 (sm_90, 132 SMs) · driver for CUDA 13.0 · commit 3f2a91c0 + changes (dirty) · 2026-11-29 16:28 UTC
    SM clock 1,905 to 1,920 MHz · power 612 to 615 W (medians while timing, per shape) · throttled by power cap
    all variants with KS=32, pad=0
    source's claim: GB10, wall
    0.97 (−3%)
    seed 000, §3.3 TM=256
    predicted for H200
    0.9 to 1
    held
    bar ±1.5%
    gate, up
    whole layer, 7 launches
    A/A
    cuBLAS, f16 out
    GB10  sm_121
    57,344
    shared memory
""".strip().splitlines()


def test_the_picture_says_what_the_record_says():
    made = plausible()
    said = words("reverted")
    for judged in made["verdicts"].values():
        assert judged["verdict"].upper() in said and judged["reason"] in said
        for ratio in (judged["ratio"], judged["wall"]["ratio"]):
            assert f"{ratio['median']:.4f} [{ratio['low']:.4f}" in said
    for text in map(str.strip, SAID):
        assert text in said, text
    assert "predicted for GB10" not in said


def test_every_sample_is_a_dot_or_counted_beside_the_scale():
    figure = picture("reverted")
    note = next(text.get_text() for text in figure.texts if text.get_text().startswith("triangles"))
    strips = [axes for axes in figure.axes if axes.get_xscale() == "linear"]
    dots = sum(len(strip.get_offsets()) for axes in strips for strip in axes.collections)
    taken = sum(len(values) for shape in plausible()["shapes"] for values in shape["samples_us"].values())
    assert 0 < int(note.split()[1]) == taken - dots


def test_the_claim_stands_at_its_ratio_and_within_the_scale():
    axes = next(axes for axes in picture("claim_far_away").axes if axes.get_xscale() == "log")
    low, high = axes.get_xlim()
    assert low < 0.62 < high
    assert any(list(line.get_xdata()) == [0.62, 0.62] for line in axes.lines)


def test_far_peers_get_their_own_scale_and_near_ones_share_it():
    assert len(picture("reverted").axes) == 2 * 4 + 1
    assert len(picture("peer_close").axes) == 1 + 1


def test_without_a_gpu_the_ledger_and_not_timed():
    said = words("no_gpu")
    assert "not timed: no GPU" in said
    assert f"refused: {NEEDS}" in said
    assert "predicted for H200" in said and "predicted for GB10" in said and "source's claim" in said


@pytest.mark.parametrize(
    ("name", "text", "times"),
    [
        ("parity_failed", "parity FAILED, never timed", 4 + 1),
        ("failed_on_one_shape", "parity FAILED, never timed", 2),
        ("failed_on_one_shape", "no verdict: parity FAILED on 2048×512×3584", 1),
        ("baseline_failed", "not timed: parity of the baseline FAILED", 2),
        ("no_telemetry", "clock and power not read: NVML Shared Library Not Found", 1),
        ("one_shape", "whole layer", 0),
        ("two_shapes_of_the_user", "all shapes, 2 launches", 2),
        ("no_predictions", "predicted", 0),
        ("no_peers", "peer", 0),
        ("inconclusive", "INCONCLUSIVE", 2),
        ("floors", "≤: what its floor allows", 1),
        ("floors", "≤ ", 4 * 2),
        ("wall_measured", "0.8000 [0.8000, 0.8000]", 1),
        ("wall_measured", "measured on whole prefills of 2,048 tokens", 1),
        ("wall_measured", "by Amdahl", 1),
    ],
)
def test_what_is_missing_is_said(name, text, times):
    assert words(name).count(text) == times


def test_a_pipeline_has_a_ledger_for_every_step_and_its_upper_bound():
    said = words("pipeline")
    assert said.count("convert_f32_f16(per_lane=8)") == 2  # the bound's row and the ledger's
    assert "upper bound: without" in said and "1.0147 [1.0141, 1.0153]" in said
    assert said.count("limited by") == 2 and said.count("threads") >= 4
    bold = [text.get_text() for text in shown(picture("pipeline")) if text.get_weight() == "bold"]
    assert "57,344" in bold and "32,768" not in bold  # TM=256 against the step of the same kernel


def test_names_hold_only_what_differs():
    names = sides.short_names([TM128, TM256, TM256_8])
    assert list(names.values()) == ["TM=128, warps=8", "TM=256, warps=16", "TM=256, warps=8"]
    assert list(sides.short_names([TM128]).values()) == [TM128["label"]]
    other = {**TM128, "name": "gemm_wgmma", "label": "gemm_wgmma(TM=128)", "parameters": {"TM": 128}}
    assert list(sides.short_names([TM128, other]).values()) == ["gemm_f16_nt, KS=32, warps=8, pad=0", "gemm_wgmma"]


def test_a_swarm_is_centred_on_its_row_and_stays_in_it():
    values = np.repeat([1.0, 1.5], [400, 1])
    offsets = swarm(values, (0.0, 2.0), 1.4)
    assert abs(offsets.mean()) < 1e-9 and np.abs(offsets).max() < 0.17
    assert offsets[-1] == 0 and len(set(offsets[:-1])) == 400


def written(path, *made):
    record.prepare(path)
    for one in made:
        record.append(path, one)
    return path


def test_redraw_takes_the_latest_record_of_each_gpu_and_prints_warnings(tmp_path, capsys):
    latest = without_gpu() | {"question": "Later?"}
    timed = written(tmp_path / "nvidia-h200" / "gemm_tm256.jsonl", without_gpu(), latest)
    untimed = written(tmp_path / "no-gpu" / "gemm_tm256.jsonl", without_gpu())
    other = written(tmp_path / "no-gpu" / "gemm_ks64.jsonl", without_gpu())
    with timed.open("a") as file:
        file.write('{"schema": 1, "cut sho')
    pictures = [path.with_suffix(".png") for path in (untimed, timed)]
    assert plots.redraw(tmp_path, "gemm_tm256") == pictures
    assert pictures[1].read_bytes() == plots.draw(latest, tmp_path / "expected.png").read_bytes()
    assert capsys.readouterr().err.count("not a record") == 1
    assert plots.redraw(tmp_path) == [other.with_suffix(".png"), *pictures]


def test_redraw_without_a_record_names_probe_and_folder(tmp_path):
    written(tmp_path / "no-gpu" / "gemm_tm256.jsonl")
    for probe in ("gemm_tm256", "gemm_ks64"):
        with pytest.raises(Refusal, match=rf"^no record of {probe} in {tmp_path}[^\n]*$"):
            plots.redraw(tmp_path, probe)


def test_a_picture_that_cannot_be_written_is_refused_and_leaves_nothing(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "picture.png").mkdir()
    for path in (tmp_path / "file" / "picture.png", tmp_path / "picture.png"):
        with pytest.raises(Refusal, match=r"^cannot write the picture [^\n]+: [A-Z][^\n]+$"):
            plots.draw(without_gpu(), path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "picture.png"]
