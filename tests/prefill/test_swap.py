"""Probes on the wall: where in the campaign each stands, what is swapped, and what its record says of it."""

import re
from contextlib import nullcontext

import numpy as np
import pytest

import experiments
from playground.__main__ import main
from playground.errors import Refusal
from playground.kernels import fa_prefill, gemm_f16_nt
from playground.measure import layer_verdict
from playground.prefill.configuration import CONFIGURATIONS
from playground.prefill.swap import fits, stage, swapped

RUNGS = {rung.name: rung for rung in CONFIGURATIONS}


def labels(configuration):
    return {kind: str(kernel) for kind, kernel in configuration.kernels.items()}


@pytest.mark.parametrize(
    ("probe", "before", "after"),
    [
        ("fa_pv_tensor_cores", "8p", "P5·0"),
        ("elementwise_vectorized_convert", "P5·0", None),  # P5·1 vectorises store_kv in the same step
        ("gemm_tm128", "P5·1", "P5·2"),
        ("fa_parallel_softmax", "P5·2", "P5·3a"),
        ("fa_padded_rows", "P5·3a", "P5·3"),
        ("fa_register_softmax", "P5·3", "FAP2"),
        ("gemm_tm256", "FAP2", None),
    ],
)
def test_a_landed_probe_leads_from_its_rung_to_the_next(probe, before, after):
    """Seed 000, commits P5·0 to P5·3; seed 001, FAP2."""
    probe = experiments.load(probe)
    baseline, candidate, *_ = swapped(probe.kernels).values()
    assert stage(probe.baseline).name == before
    assert labels(baseline) == labels(RUNGS[before])
    assert after is None or labels(candidate) == labels(RUNGS[after])


def test_a_baseline_of_no_rung_is_swapped_into_the_latest():
    kernel = gemm_f16_nt(TM=64, KS=96, pad=8)
    assert stage(kernel).gemm is kernel
    assert stage(kernel).attention is CONFIGURATIONS[-1].attention


def test_kernels_of_no_pass_are_refused_before_anything_runs():
    with pytest.raises(Refusal, match="computes attention_hd64, which is no pass of the prefill"):
        stage(fa_prefill(hd=64))
    probes = map(experiments.load, ("gemm_ks64", "fa_fap1", "elementwise_vectorized_store_kv"))
    assert all(fits(probe.kernels) for probe in probes)


def test_a_gemm_that_rounds_its_operand_itself_stands_for_two_passes():
    baseline, sync, mirror = swapped(experiments.load("gemm_af32").kernels).values()
    assert stage(experiments.load("gemm_af32").baseline).name == "FAP2"
    assert labels(baseline) == labels(RUNGS["FAP2"])
    assert (sync.gemm_af32.parameters["AF32"], mirror.gemm_af32.parameters["AF32"]) == ("sync", "mirror")


def record_with(wall):
    """100 µs against 80 on the kernel; the wall as given."""
    timed = {"a": [100.0] * 8, "b": [80.0] * 8, "A/A": [100.0] * 8}
    return {
        "variants": [{"label": "a"}, {"label": "b"}], "bar": 0.015, "share": None, "predictions": [],
        "gpu": {"name": "GPU"}, "shapes": [{"roles": ["q"], "samples_us": timed}], **wall,
    }  # fmt: skip


def test_the_measured_wall_is_judged_by_the_same_rules_beside_the_kernel():
    samples = {"a": [1010.0] * 8, "b": [1000.0] * 8, "A/A": [1011.0] * 8}
    judged = layer_verdict.judge(record_with({"wall": {"samples_us": samples}}))["b"]
    assert judged["verdict"] == "landed"
    assert judged["wall_measured"]["verdict"] == "no difference"
    assert judged["wall_measured"]["ratio"]["median"] == pytest.approx(1.01)
    del samples["b"]  # its logits disagreed
    assert "wall_measured" not in layer_verdict.judge(record_with({"wall": {"samples_us": samples}}))["b"]
    assert "wall_measured" not in layer_verdict.judge(record_with({}))["b"]


def test_without_a_gpu_walls_are_not_timed_and_said_so(tmp_path, capsys):
    assert main(["wall", "elementwise_vectorized_store_kv", "--on", "emulator", "--out", str(tmp_path)]) == 0
    assert "not timed: no GPU" in capsys.readouterr().out


def test_walls_are_refused_where_there_is_no_gpu(tmp_path, monkeypatch, capsys):
    def no_gpu(on):
        raise Refusal(f"no GPU for {on}")

    monkeypatch.setattr("playground.commands.prefill.choose_device", no_gpu)
    assert main(["wall", "gemm_ks64", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.endswith("no GPU for gpu\n")


@pytest.mark.gpu
def test_a_small_wall_is_measured_interleaved_and_its_passes_add_up(device):
    from playground.prefill.wall import Wall
    from playground.shapes import Model

    small = Model(layers=2, hidden=512, heads=4, kv_heads=2, head_dim=128, feed_forward=1024, vocabulary=1000)
    wall = Wall(device, small, tokens=300)
    found = wall.measure(RUNGS, "padded", 4, lambda what, total: nullcontext(lambda: None))
    assert all(gate["passed"] for gate in found["parity"].values())
    assert set(found["samples_us"]) == {*RUNGS, "A/A"}
    assert all(np.all(np.array(samples) > 0) for samples in found["samples_us"].values())
    budget = wall.budget(CONFIGURATIONS[-1], repeats=3)
    assert sum(entry["launches"] for entry in budget["passes"]) == len(wall.decoder.passes(300))
    with pytest.raises(Refusal, match=re.escape("bytes needed")):
        Wall(device, Model(**vars(small) | {"layers": 10**6}), tokens=300)
