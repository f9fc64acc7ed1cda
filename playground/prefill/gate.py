"""A configuration end to end in the emulator: one tiny layer, a prefill and the token after it, against float64."""

import numpy as np

from playground.compiler.arch import Arch
from playground.emulator.arrays import EmulatedArrays
from playground.emulator.workspace import hazard_record
from playground.measure import parity
from playground.prefill.configuration import Configuration
from playground.prefill.decoder import Decoder
from playground.prefill.reference import expected_logits
from playground.prefill.weights import random_weights
from playground.runner import Outcome
from playground.shapes import Model

TINY = Model(layers=1, hidden=64, heads=2, kv_heads=1, head_dim=128, feed_forward=72, vocabulary=136)
PROMPT = 65


def emulated(configuration: Configuration, arch: Arch, seed: int) -> dict:
    """Parity of the last prompt token's logits and of the next one's, and the hazards of all launches."""
    arrays = EmulatedArrays(arch)
    weights = random_weights(arrays, TINY, seed)
    decoder = Decoder(arrays, TINY, weights, configuration, slots=PROMPT + 1)
    tokens = np.random.default_rng(seed).integers(0, TINY.vocabulary, PROMPT + 1)
    gates = {}
    for name, first, behind in (("prefill", 0, PROMPT), ("decode", PROMPT, PROMPT + 1)):
        logits = decoder.forward(tokens[first:behind], start=first)
        expected = expected_logits(TINY, weights, tokens[:behind])
        gates[name] = parity.check(Outcome({"logits": logits}), expected).as_record()
    return {"parity": gates, "hazards": [hazard_record(hazard) for hazard in arrays.hazards]}
