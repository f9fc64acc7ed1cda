"""The attention ladder: every rung right on every kind of row, and the counts and ledgers that the seeds tell of it."""

import functools
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from playground.__main__ import main
from playground.compiler.arch import ARCHS, GPUS
from playground.compiler.build import build
from playground.emulator import hazards
from playground.emulator.workspace import EmulatedWorkspace
from playground.errors import Refusal
from playground.kernels import fa_prefill
from playground.kernels.attention.contract import attention_contract
from playground.kernels.attention.fa_registers import fa_registers
from playground.kernels.layout import SharedLayout
from playground.measure import parity
from playground.measure.inputs import random_inputs
from playground.measure.references import REFERENCES

KIB = 1024

RUNGS = {
    "8n": {"softmax": "serial", "pv": "scalar"},
    "P5·0": {"softmax": "serial", "pv": "wmma"},
    "P5·3 first cut": {"softmax": "rows", "pv": "wmma"},
    "P5·3": {"softmax": "rows", "pv": "wmma", "pad": 8},
    "FAP1": {"softmax": "rows", "pv": "wmma", "pad": 8, "TKV": 32, "s_pad": 4},
    "FAP2": {"softmax": "registers", "pv": "wmma", "pad": 8, "TKV": 32},
}
SYNCHRONOUS = [("8n", 64), ("P5·0", 64), ("P5·3", 64), ("FAP1", 64), ("FAP1", 128)]
"""Those that fit into sm_75's 64 KiB."""

every_rung = pytest.mark.parametrize("rung", RUNGS)
every_hd = pytest.mark.parametrize("hd", [64, 128])


@functools.cache  # one kernel for all architectures: its device functions are then typed once
def kernel_of(rung, hd=128, staging="async"):
    return fa_prefill(hd=hd, **RUNGS[rung], staging=staging)


@functools.cache
def built(rung, hd=128, arch="sm_90", staging="async"):
    return build(kernel_of(rung, hd, staging), ARCHS[arch])


@pytest.fixture(params=["emulator", pytest.param("gpu", marks=pytest.mark.gpu)])
def run(request):
    """`run(rung, hd, inputs)`: the outcome, on the emulator and on the GPU."""
    if request.param == "emulator":
        return lambda rung, hd, inputs: emulated(built(rung, hd), inputs)
    device = request.getfixturevalue("device")

    def on_gpu(rung, hd, inputs):
        from playground.gpu.workspace import Workspace

        with Workspace(device, attention_contract(hd), inputs) as workspace:
            return workspace.run(build(kernel_of(rung, hd), device.arch))

    return on_gpu


def emulated(made, inputs):
    return EmulatedWorkspace(made.kernel.contract, inputs).run(made)


# -------------------------------------------------------------------------------------------------------------- inputs


def problem(hd, nt, kv=None, nh=1, nk=1, positions=None):
    """Random inputs over the last nt of kv rows of the cache, or with the given positions."""
    inputs = random_inputs(attention_contract(hd), {"nt": nt, "nh": nh, "nk": nk, "kv": kv or nt}, seed=nt + hd)
    return inputs if positions is None else inputs | {"positions": np.array(positions, np.int32)}


def scattered(hd):
    """In no order, with gaps and a repetition."""
    return problem(hd, 20, kv=150, positions=[149, *np.random.default_rng(1).permutation(150)[:18], 149])


def masked_tiles(hd):
    """Rows that see the first key only, or the first tile, beside rows that see three tiles."""
    return problem(hd, 64, kv=192, positions=[(0, 63, 64, 191)[row % 4] for row in range(64)])


def huge(hd):
    """Random logits with a standard deviation of 10⁴."""
    inputs = problem(hd, 20, kv=100)
    return inputs | {"Q": inputs["Q"] * np.float32(100), "K": inputs["K"] * np.float16(100)}


def two_levels(hd):
    """Logits of −10⁴ in the first tile and of +10⁴ in the second; some rows see the first alone."""
    level = np.float16(math.sqrt(1e4 / math.sqrt(hd)))
    inputs = problem(hd, 5, kv=100, positions=[3, 40, 63, 64, 99])
    signs = np.where(np.arange(100) < 64, -1, 1).astype(np.float16)
    return inputs | {
        "Q": np.full((5, 1, hd), level, np.float32),
        "K": level * np.broadcast_to(signs[:, None, None], (100, 1, hd)),
    }


CASES = {
    "nt = 1": lambda hd: problem(hd, 1),
    "nt = 63": lambda hd: problem(hd, 63),
    "nt = 64": lambda hd: problem(hd, 64),
    "nt = 65": lambda hd: problem(hd, 65),
    "positions from 67 on": lambda hd: problem(hd, 33, kv=100),
    "one query behind a long cache": lambda hd: problem(hd, 1, kv=130),
    "scattered positions": scattered,
    "masked tiles": masked_tiles,
    "huge logits": huge,
    "logits of ±10⁴": two_levels,
    "4 heads over 2": lambda hd: problem(hd, 3, kv=5, nh=4, nk=2),
    "2 heads over 2": lambda hd: problem(hd, 3, kv=5, nh=2, nk=2),
    "3 heads over 1": lambda hd: problem(hd, 3, kv=5, nh=3, nk=1),
}


def check(outcome, inputs, hd):
    """Parity with float64 on the whole output, no NaN, no hazard."""
    assert np.isfinite(outcome.outputs["O"]).all()
    gate = parity.check(outcome, REFERENCES[f"attention_hd{hd}"](inputs))
    assert gate.passed, gate
    assert list(outcome.hazards) == []


# -------------------------------------------------------------------------------------------------------------- parity


@every_hd
@every_rung
def test_a_rung_agrees_with_float64_in_every_case(run, rung, hd):
    for case in CASES.values():
        inputs = case(hd)
        check(run(rung, hd, inputs), inputs, hd)


@pytest.mark.parametrize("rung", ["P5·0", "P5·3", "FAP2"])  # one of each softmax
def test_a_query_that_sees_one_key_returns_its_value_to_the_bit(run, rung):
    """Whatever tiles come after it, all of them masked: weight, sum and correction are exactly 1."""
    inputs = masked_tiles(128)
    O = run(rung, 128, inputs).outputs["O"]
    assert np.array_equal(O[::4], np.broadcast_to(inputs["V"][:1].astype(np.float32), (16, 1, 128)))


@pytest.mark.gpu
@every_hd
@every_rung
@pytest.mark.parametrize("nt", [2047, 2048])
def test_a_rung_agrees_with_float64_on_a_long_prompt(device, rung, hd, nt):
    from playground.gpu.workspace import Workspace

    inputs = problem(hd, nt, nh=3, nk=1)
    with Workspace(device, attention_contract(hd), inputs) as workspace:
        check(workspace.run(build(kernel_of(rung, hd), device.arch)), inputs, hd)


@pytest.mark.parametrize(("rung", "hd"), SYNCHRONOUS)
def test_the_synchronous_path_is_built_for_sm_75_and_right(rung, hd):
    made = built(rung, hd, "sm_75", "sync")
    assert "cp.async" not in made.ptx and "f16x2.f32" not in made.ptx
    assert (made.ledger.arch, made.ledger.spill_stores, made.ledger.spill_loads) == ("sm_75", 0, 0)
    assert made.ledger.blocks_per_sm >= 1
    for case in ("nt = 65", "scattered positions", "4 heads over 2"):
        inputs = CASES[case](hd)
        check(emulated(made, inputs), inputs, hd)


def test_what_sm_75_cannot_hold_or_run_is_refused_with_the_numbers():
    with pytest.raises(Refusal, match=r"needs 69,376 bytes of shared memory per block: sm_75 has 65,536"):
        built("P5·3", arch="sm_75", staging="sync")
    with pytest.raises(Refusal, match=r"needs sm_80 or later: sm_75 lacks its instructions"):
        built("FAP1", arch="sm_75")


# -------------------------------------------------------------------------------------------------------------- layout


@pytest.mark.parametrize(
    ("rung", "hd", "bytes"),
    [
        ("P5·3", 128, 69_376),  # seed 001, §1: "69.38 KB of smem"
        ("FAP2", 128, 34_816),  # seed 001, §2: "(FA_TQ + 2·FA_TKV)·(hd+8)·2 = 128·136·2 = 34,816 B"
        ("FAP2", 64, 18_432),  # 128 · 72 · 2
        ("P5·0", 128, 66_304),  # 192 · 128 · 2 + 64 · 64 · 4 + 3 · 64 · 4
        ("FAP1", 128, 44_800),  # 128 · 136 · 2 + 64 · 36 · 4 + 3 · 64 · 4
    ],
)
def test_a_rung_takes_the_bytes_that_the_seeds_state(rung, hd, bytes):
    assert kernel_of(rung, hd).layout.bytes == bytes


@every_hd
@every_rung
def test_the_way_out_of_the_last_rows_is_inside_what_the_launch_asks_for(rung, hd):
    layout = kernel_of(rung, hd).layout
    assert layout["O"].bytes == 64 * hd * 4
    assert layout["O"].offset + layout["O"].bytes <= layout.bytes


def narrow():
    """16 keys per tile: Q, K and V take 24 KiB, and O 32."""
    rung = fa_registers(hd=128, TKV=16, pad=0, staging="async")
    other = fa_prefill(softmax="registers", TKV=32)
    return replace(other, function=rung.function, layout=rung.layout, parameters={"hd": 128, "TKV": 16})


def test_a_way_out_that_is_larger_than_q_k_and_v_counts_as_the_maximum():
    """Seed 001, §5: "the 32 KB of tail-tile O write-back smem reuse must be counted in the launcher's max"."""
    kernel, inputs = narrow(), problem(128, 65)
    staged = sum(kernel.layout[name].bytes for name in "QKV")
    assert (staged, kernel.layout.bytes) == (24 * KIB, 32 * KIB)
    check(emulated(build(kernel, ARCHS["sm_90"]), inputs), inputs, 128)


def test_a_launch_that_forgets_the_way_out_is_seen():
    made, inputs = build(narrow(), ARCHS["sm_90"]), problem(128, 64 + 63)
    staged = SharedLayout(*(made.kernel.layout[name] for name in "QKV"))
    outcome = emulated(replace(made, ledger=replace(made.ledger, dynamic_shared=staged.bytes)), inputs)
    assert hazards.SHARED_BOUNDS in {hazard["kind"] for hazard in outcome.hazards}


# -------------------------------------------------------------------------------------------------------------- counts


@functools.cache
def counted(rung):
    """Counts of one block, which sees 64 keys."""
    made, inputs = built(rung), problem(128, 64)
    return EmulatedWorkspace(made.kernel.contract, inputs).report(made).counts


def at(rung, text):
    """The counts of the lines of Python that contain `text`, summed."""
    found = [
        numbers
        for (file, line), numbers in counted(rung).by_line().items()
        if line and text in Path(file).read_text().splitlines()[line - 1]
    ]
    assert found, f"no line with {text}"
    return {name: sum(numbers[name] for numbers in found) for name in found[0]}


def shared_bytes(counts):
    return sum(counts[f"shared_{how}_bytes"] for how in ("load", "store", "cp_async"))


@pytest.mark.parametrize(("rung", "tiles", "barriers"), [("8n", 1, 4), ("P5·3", 1, 4), ("FAP1", 2, 4), ("FAP2", 2, 3)])
def test_the_barriers_per_tile_go_from_four_to_three(rung, tiles, barriers):
    """Seed 001, §2: "The per-KV-tile __syncthreads count drops from 4 to 3"."""
    assert counted(rung).total()["barriers"] == barriers * tiles


@pytest.mark.parametrize(
    ("rung", "degree"), [("P5·0", 8), ("P5·3 first cut", 8), ("P5·3", 1), ("FAP1", 1), ("FAP2", 1)]
)
@pytest.mark.parametrize("load", ["load_a_row(fa, Qs", "load_b_col(fb, Ks", "load_b_row(fb, Vs"])
def test_padded_rows_take_the_loads_of_q_k_and_v_from_8_way_conflicts_to_none(rung, degree, load):
    """Seed 000, §2.2: "256 B ≡ 0 (mod 32 banks) → 8-way conflict; +8 halves (272 B) shifts each row by 4 banks"."""
    counts = at(rung, load)
    assert counts["shared_load_wavefronts"] == degree * counts["shared_load_wavefronts_ideal"]


ROUND_TRIP = {
    "wmma.store_shared(S": 16 * KIB,
    "logits[i] = load_shared_f32": 16 * KIB,
    "to_f16(p)": 8 * KIB,
    "load_a_row(fa, P ": 16 * KIB,
}
"""Seed 001, §2: "S store 16 KB + softmax read 16 KB + P store-back 8 KB + ldmatrix read for P·V 16 KB ≈ 56 KB/tile"."""


@pytest.mark.parametrize("rung", ["P5·3 first cut", "P5·3", "FAP1"])
@pytest.mark.parametrize("text", ROUND_TRIP)
def test_s_and_p_go_through_shared_memory_as_the_seed_counts_it(rung, text):
    """Per 64 × 64 scores: FAP1 takes two tiles for them, of half the bytes."""
    assert shared_bytes(at(rung, text)) == ROUND_TRIP[text]


def test_the_serial_softmax_reads_s_twice_and_p_by_whole_rows():
    """Not the seed's 56 KB: the maximum is taken over visible scores first, then all are read again."""
    visible = 64 * 65 // 2
    assert shared_bytes(at("P5·0", "maximum = max(maximum, load_shared_f32(scores")) == visible * 4
    assert shared_bytes(at("P5·0", "logit = load_shared_f32(scores")) == 16 * KIB


def test_the_round_trip_and_the_state_vanish_with_the_softmax_in_registers():
    """What is left is the staging of Q, K and V and the loads of their fragments, which take the same on both rungs."""
    staged = (64 + 2 * 64) * 128 * 2
    q_fragments, k_fragments, v_fragments = 4 * 8 * 512 * 2, 4 * 8 * 4 * 512, 4 * 4 * 8 * 512
    rest = staged + q_fragments + k_fragments + v_fragments
    assert shared_bytes(counted("FAP2").total()) == rest
    m_and_l_at_first, old_m, m_l_l_alpha, alpha_and_l_per_lane = 2 * 256, 64 * 32 * 4, 4 * 256, 2 * 256 * 2 * 4
    state = m_and_l_at_first + old_m + m_l_l_alpha + alpha_and_l_per_lane
    assert sum(ROUND_TRIP.values()) == 57_344
    assert shared_bytes(counted("P5·3").total()) == rest + 57_344 + state


def test_the_scalar_product_reads_v_from_shared_memory_once_per_row():
    """8n: 64 rows × 64 keys × 128 columns × 2 bytes, against 64 KiB of fragments."""
    assert shared_bytes(at("8n", "out[c] += p * from_f16")) == 64 * 64 * 128 * 2
    assert shared_bytes(at("P5·0", "load_b_row(fb, Vs")) == 64 * KIB


def test_half_of_the_products_move_to_tensor_cores():
    products = 2 * 64 * 64 * 128
    assert counted("8n").total()["mma_flop"] == products
    assert counted("P5·0").total()["mma_flop"] == counted("FAP2").total()["mma_flop"] == 2 * products


# -------------------------------------------------------------------------------------------------------------- ledgers


@every_hd
@every_rung
def test_no_rung_spills(rung, hd):
    for arch in ("sm_80", "sm_90", "sm_121"):
        ledger = built(rung, hd, arch).ledger
        assert (ledger.spill_stores, ledger.spill_loads, ledger.stack, ledger.local) == (0, 0, 0, 0), arch
        assert ledger.blocks_per_sm >= 1, arch


@pytest.mark.parametrize("gpu", ["GB10", "H200"])
def test_a_second_block_fits_from_fap1_on(gpu):
    """Seed 001, §2: "blocks go 1 → 2/SM"."""
    blocks = {rung: built(rung, arch=GPUS[gpu].arch.name).ledger.blocks_per_sm for rung in ("P5·3", "FAP1", "FAP2")}
    assert blocks["P5·3"] == 1
    assert blocks["FAP1"] >= 2 and blocks["FAP2"] >= 2


# ------------------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"hd": 96}, "head dimension 96 is not supported: (64, 128) are"),
        ({"hd": 0}, "head dimension 0"),
        ({"TKV": 48}, "TKV = 48 is not 32 or 64"),
        ({"pad": 4}, "pad = 4 is not a multiple of 8 halves"),
        ({"pad": -8}, "pad = -8 is not a multiple of 8 halves"),
        ({"softmax": "rows", "s_pad": 2}, "s_pad = 2 is not a multiple of 4 floats"),
        ({"softmax": "columns"}, "softmax = 'columns' is not one of serial, rows, registers"),
        ({"pv": "dot"}, "pv = 'dot' is not one of scalar, wmma"),
        ({"staging": "later"}, "staging = 'later' is not one of async, sync"),
        ({"softmax": "registers", "s_pad": 4}, "softmax in registers leaves no S to pad"),
        ({"softmax": "registers", "pv": "scalar"}, "multiplies by wmma"),
    ],
    ids=str,
)
def test_parameters_that_make_no_sense_are_refused_with_their_value(parameters, message):
    with pytest.raises(Refusal, match=re.escape(message)) as refused:
        fa_prefill(**parameters)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ("0x2x1x64", "nt = 0 is not between 1 and 2147483647"),
        ("64x0x1x64", "nh = 0 is not between 1"),
        ("64x3x0x64", "nk = 0 is not between 1"),
        ("64x3x2x64", "nh = 3 query heads are not a multiple of nk = 2 key heads"),
        ("64x1x2x64", "nh = 1 query heads are not a multiple of nk = 2 key heads"),
        ("65x2x1x64", "kv = 64 rows of K and V cannot hold the nt = 65 tokens' own keys"),
    ],
)
def test_dimensions_that_make_no_sense_are_refused_in_one_line(shape, message, capsys):
    assert main(["check", "fa_prefill", "--softmax", "registers", "--shape", shape]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err and captured.err.count("\n") == 1


def test_a_head_dimension_is_refused_on_the_command_line(capsys):
    assert main(["ledger", "fa_prefill", "--hd", "80"]) == 2
    assert re.fullmatch(r"[^\n]*head dimension 80 is not supported[^\n]*\n", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("positions", "message"),
    [
        ([0, -1, 2], "positions -1 to 2 are not all inside the 8 rows of K and V"),
        ([0, 8, 2], "positions 0 to 8 are not all inside the 8 rows of K and V"),
        ([7, 7, 2**31 - 1], "positions 7 to 2147483647 are not all inside the 8 rows of K and V"),
    ],
)
def test_positions_outside_the_cache_are_refused_with_their_range(positions, message):
    with pytest.raises(Refusal, match=re.escape(message)):
        EmulatedWorkspace(attention_contract(64), problem(64, 3, kv=8, positions=positions))


def test_arrays_that_disagree_are_refused():
    inputs = problem(64, 3, kv=8, nh=2)
    for name, changed, message in (
        ("V", inputs["V"][:7], "V has kv = 7, expected 8"),
        ("Q", inputs["Q"][..., :32].copy(), "Q has axis 2 = 32, expected 64"),
        ("Q", inputs["Q"].astype(np.float16), "Q is float16, not float32"),
        ("positions", inputs["positions"][:2], "positions has nt = 2, expected 3"),
    ):
        with pytest.raises(Refusal, match=re.escape(message)):
            attention_contract(64).dimensions_of(inputs | {name: changed})
