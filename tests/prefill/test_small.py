"""The small model: its text, its mathematics in torch, two steps of its training, and what is committed of it."""

import math
import sys

import numpy as np
import pytest

from experiments import greedy32
from playground.prefill import checkpoint, reference
from playground.prefill.small import BYTES_2M, DIRECTORY, train
from playground.prefill.small.initial import initial
from playground.prefill.small.text import standard_library
from playground.prefill.weights import tensor_shapes


@pytest.fixture(scope="module")
def weights():
    """Random, with biases."""
    shapes = tensor_shapes(BYTES_2M)
    drawn = {name: array.astype(shapes[name][1]) for name, array in initial(BYTES_2M, seed=2).items()}
    return drawn | {name: np.linspace(-1, 1, len(drawn[name]), dtype="f4") for name in drawn if "bias" in name}


def bits_per_byte(weights, text):
    """By the float64 reference: of every byte but the first."""
    logits = reference.logits(BYTES_2M, weights, text)[:-1]
    likelihood = logits[np.arange(len(logits)), text[1:]] - np.log(np.exp(logits).sum(axis=1))
    return -np.mean(likelihood) / math.log(2)


def test_the_text_is_python_and_its_held_out_files_are_others():
    text = standard_library()
    assert len(text.training) > 10 * len(text.held_out) > 1e6
    assert b"\ndef " in bytes(text.held_out)
    assert bytes(text.held_out[:200]) not in bytes(text.training)
    assert standard_library().sha256 == text.sha256


def test_training_without_torch_is_refused_in_one_line(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "playground.prefill.small.training", raising=False)
    assert train.main([]) == 2
    assert "training needs torch, which is not installed" in capsys.readouterr().err
    assert train.main(["--steps", "0"]) == 2
    assert "0 steps of 64 sequences" in capsys.readouterr().err


def test_torch_computes_what_float64_computes(weights):
    torch = pytest.importorskip("torch")
    from playground.prefill.torch_decoder import logits

    tokens = np.arange(70) * 37 % 256
    in_torch = {name: torch.tensor(array).double() for name, array in weights.items()}
    found = logits(BYTES_2M, in_torch, torch.tensor(tokens)[None])
    np.testing.assert_allclose(found[0].numpy(), reference.logits(BYTES_2M, weights, tokens), atol=1e-5)


def test_two_steps_of_training_leave_a_directory_that_is_as_good_as_they_say(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    from playground.prefill.small import training

    monkeypatch.setattr(training, "JUDGED", training.CONTEXT + 1)
    judged = training.train(tmp_path, steps=2, batch=2, seed=0)
    model, weights = checkpoint.load(tmp_path)
    assert model == BYTES_2M
    text = standard_library().held_out[: training.CONTEXT + 1]
    assert judged == pytest.approx(bits_per_byte(weights, text), abs=1e-3)


def test_transformers_compute_what_float64_computes(weights, tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from playground.prefill import transformers_logits

    checkpoint.save(tmp_path, BYTES_2M, weights)
    tokens = list(range(70))
    (found,) = transformers_logits.expected(tmp_path, BYTES_2M, [tokens])
    exact = reference.logits(BYTES_2M, weights, np.array(tokens))[-1]
    np.testing.assert_allclose(found["logits"].values, exact, atol=1e-4)


def test_the_committed_model_has_learnt_and_is_small():
    model, weights = checkpoint.load(DIRECTORY)
    assert model == BYTES_2M
    assert (DIRECTORY / checkpoint.WHOLE).stat().st_size <= 4_000_000
    text = np.frombuffer("".join(greedy32.PROMPTS).encode(), np.uint8)
    assert bits_per_byte(weights, text) < 3  # 8 if it had learnt nothing


@pytest.mark.gpu
def test_every_configuration_writes_the_same_bytes(device, tmp_path):
    assert greedy32.main(["--on", "gpu", "--out", str(tmp_path)]) == 0
