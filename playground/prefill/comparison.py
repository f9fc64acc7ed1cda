"""The greedy gate: the same prompts decoded under several configurations, which must all choose the same tokens."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from playground.kernels.gemm_f16_nt import TN
from playground.measure import parity
from playground.measure.references.expected import Expected
from playground.prefill.configuration import Configuration
from playground.prefill.decoder import Decoder, array_bytes
from playground.prefill.greedy import Continuation, first_difference, greedy, largest_deviation
from playground.prefill.weights import placed, weight_bytes
from playground.runner import Outcome
from playground.shapes import Model


@dataclass(frozen=True)
class Plan:
    """What is decoded: `tokens` tokens after each of the prompts, which are token ids, under each configuration."""

    configurations: Sequence[Configuration]
    prompts: Sequence[Sequence[int]]
    tokens: int

    @property
    def slots(self) -> int:
        """Rows that the cache needs: the longest prompt and what follows it."""
        return max(map(len, self.prompts)) + self.tokens

    @property
    def passes(self) -> int:
        """Forward passes in all, where one of a prompt counts as many as the tiles of rows that it fills."""
        tiles = sum(-(-len(prompt) // TN) for prompt in self.prompts)
        return len(self.configurations) * (tiles + len(self.prompts) * (self.tokens - 1))


def decoders(runner, model: Model, weights: Mapping[str, np.ndarray], plan: Plan) -> Callable[[Configuration], Decoder]:
    """Makes the decoder of a configuration: all on one copy of the weights, each with activations and cache of its own.

    What one configuration left must not pass for another's work. Refuses a model that does not fit, with the numbers.
    """
    needed = weight_bytes(model) + array_bytes(model, plan.slots)
    runner.require(needed, f"weights, and activations and cache for {plan.slots} tokens")
    shared = placed(runner, model, weights)
    return lambda configuration: Decoder(runner, model, shared, configuration, plan.slots)


def decode(decoder_of: Callable, plan: Plan, advance: Callable[[], None]) -> dict[str, list[Continuation]]:
    """Configuration's name -> what follows each prompt."""
    found: dict[str, list[Continuation]] = {}
    for configuration in plan.configurations:
        decoder, found[configuration.name] = decoder_of(configuration), []
        for prompt in plan.prompts:
            found[configuration.name].append(greedy(decoder, prompt, plan.tokens))
            advance()
    return found


def against_the_first(decoded: Mapping[str, Sequence[Continuation]]) -> dict[str, list[dict]]:
    """Configuration's name -> per prompt, how it compares with the first configuration; as in a record."""
    baseline = next(iter(decoded.values()))
    return {
        name: [_compared(*pair) for pair in zip(baseline, continuations)] for name, continuations in decoded.items()
    }


def parities(decoder_of: Callable, plan: Plan, expected: Sequence[Mapping[str, Expected]]) -> dict[str, list[dict]]:
    """Configuration's name -> per prompt, the parity of its last logits with those expected; as in a record."""
    found = {}
    for configuration in plan.configurations:
        decoder = decoder_of(configuration)
        outcomes = [Outcome({"logits": decoder.forward(np.array(prompt))}) for prompt in plan.prompts]
        found[configuration.name] = [parity.check(*pair).as_record() for pair in zip(outcomes, expected)]
    return found


def checks(
    compared: Mapping[str, list[dict]], hazards: Sequence | None, gates: Mapping[str, list[dict]]
) -> dict[str, bool]:
    """What must hold, by name. hazards: None where nobody looks. gates: of `parities`, empty if not compared."""
    entries = [entry for entries in compared.values() for entry in entries]
    found = {
        "every configuration writes the same tokens": all(entry["difference"] is None for entry in entries),
        "every logit is finite": bool(np.isfinite([entry["margins"] for entry in entries]).all()),
    }
    if hazards is not None:
        found["no hazard"] = not hazards
    if gates:
        found["the logits are those of transformers"] = all(gate["passed"] for some in gates.values() for gate in some)
    return found


def _compared(baseline: Continuation, other: Continuation) -> dict:
    difference = first_difference(baseline, other)
    return {
        **asdict(other),
        "difference": difference and asdict(difference),
        "deviation": largest_deviation(baseline, other),
    }
