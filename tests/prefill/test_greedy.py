"""Greedy decoding in the emulator against float64, what parts two continuations, and the gate as a command."""

import json
from dataclasses import replace

import numpy as np
import pytest

from experiments import greedy32
from playground.compiler.arch import arch_named
from playground.emulator.arrays import EmulatedArrays
from playground.prefill import checkpoint, comparison, reference
from playground.prefill.comparison import Plan
from playground.prefill.configuration import campaign
from playground.prefill.greedy import Continuation, Difference, first_difference, largest_deviation
from playground.prefill.small.initial import initial
from playground.prefill.weights import tensor_shapes
from playground.report import record
from playground.shapes import Model

TINY = Model(layers=1, hidden=128, heads=2, kv_heads=1, head_dim=128, feed_forward=128, vocabulary=256, tied=True)
PROMPT = "def "


@pytest.fixture(scope="module")
def weights():
    shapes = tensor_shapes(TINY)
    return {name: array.astype(shapes[name][1]) for name, array in initial(TINY, seed=3).items()}


@pytest.fixture
def directory(weights, tmp_path):
    checkpoint.save(tmp_path / "tiny", TINY, weights)
    return tmp_path / "tiny"


def test_the_last_rung_decodes_what_float64_decodes(weights):
    plan = Plan([campaign()[-1]], [list(PROMPT.encode())], 3)
    decoder_of = comparison.decoders(EmulatedArrays(arch_named("H200")), TINY, weights, plan)
    ((decoded,),) = comparison.decode(decoder_of, plan, lambda: None).values()
    tokens = list(PROMPT.encode())
    for token, top, margin in zip(decoded.tokens, decoded.tops, decoded.margins, strict=True):
        exact = reference.expected_logits(TINY, weights, np.array(tokens))["logits"]
        second, first = np.sort(exact.values)[-2:]
        assert token == np.argmax(exact.values)
        assert abs(top - first) < exact.tolerance[0]
        assert abs(margin - (first - second)) < 2 * exact.tolerance[0] < first - second
        tokens.append(token)


def test_a_prompt_counts_as_many_passes_as_it_fills_tiles_of_64_rows():
    assert Plan(campaign()[:2], [[0] * 65, [0] * 64], tokens=4).passes == 2 * (2 + 3 + 1 + 3)


def test_continuations_part_at_their_first_other_token():
    first = Continuation([5, 6, 7], [1.0, 2.0, 3.0], [0.5, 0.25, 0.125])
    other = Continuation([5, 8, 7], [1.5, 4.0, 9.0], [0.5, 0.0625, 0.125])
    assert first_difference(first, other) == Difference(1, (6, 8), (0.25, 0.0625))
    assert largest_deviation(first, other) == 0.5  # what follows the difference is not comparable
    assert first_difference(first, first) is None
    assert largest_deviation(first, first) == 0


def test_a_logit_that_is_not_finite_fails_the_gate_even_if_all_agree():
    blind = Continuation([0], [np.nan], [np.nan])
    compared = comparison.against_the_first({"8p": [blind], "padded": [blind]})
    assert list(comparison.checks(compared, hazards=None, gates={}).values()) == [True, False]


def command(directory, tmp_path, *more):
    arguments = ("--model", directory, "--on", "emulator", "--tokens", 2, "--out", tmp_path, *more)
    return greedy32.main([str(argument) for argument in arguments])


def test_the_command_decodes_alike_and_leaves_a_record(directory, tmp_path, capsys):
    assert command(directory, tmp_path) == 0
    printed = capsys.readouterr().out
    assert "under 8p, padded" in printed
    (written,), warnings = record.read(tmp_path / "emulator" / "greedy32.jsonl")
    assert warnings == []
    assert list(written["decoded"]) == ["8p", "padded"]
    assert written["prompts"] == [PROMPT]
    ((first,), (last,)) = written["decoded"].values()
    assert (len(first["tokens"]), first["tokens"]) == (2, last["tokens"])
    assert list(written["checks"].values()) == [True, True, True]
    assert str(tmp_path / "emulator" / "greedy32.jsonl") in printed


@pytest.mark.parametrize(("prompt", "says"), [("", "the prompt is empty"), ("\udcff", r"'\udcff' is not UTF-8")])
def test_a_prompt_that_is_no_text_is_refused_before_anything_is_decoded(prompt, says, directory, tmp_path, capsys):
    assert command(directory, tmp_path, "--prompt", "def ", "--prompt", prompt) == 2
    assert capsys.readouterr().err.endswith(f"argument --prompt: {says}\n")


def test_a_configuration_that_writes_otherwise_is_exit_status_1_told_with_both_margins(
    directory, weights, tmp_path, capsys, monkeypatch
):
    """It adds no residual beyond what one block of threads reaches: finite, and wrong."""
    first, *_ = campaign()
    forgetful = first.replace("forgetful", add_bias=replace(first.add_bias, grid=lambda **dims: (1, 1, 1)))
    monkeypatch.setattr(greedy32, "campaign", lambda hd: (first, forgetful))
    assert command(directory, tmp_path, "--json", "--prompt", "import sys") == 1
    captured = capsys.readouterr()
    (entry,) = json.loads(captured.out)["decoded"]["forgetful"]
    difference = entry["difference"]
    assert difference["margins"][1] == entry["margins"][difference["step"]]
    assert f"8p {bytes([difference['tokens'][0]]).decode(errors='replace')!r} by " in captured.err
    assert "NO  every configuration writes the same tokens" in captured.err
