"""The wall: whole prefills against each other, on the same weights, activations and cache, each one graph launch."""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from playground.gpu.arrays import DeviceArrays
from playground.gpu.device import Device
from playground.gpu.graph import Graph
from playground.gpu.telemetry import Telemetry
from playground.measure import parity
from playground.measure.timing import Stopwatch, as_record, laps, rounds_for
from playground.measure.verdict import CONTROL
from playground.prefill.configuration import CONFIGURATIONS, Configuration
from playground.prefill.decoder import Decoder, array_bytes
from playground.prefill.passes import by_role
from playground.prefill.reference import agreeing_logits
from playground.prefill.weights import random_weights, weight_bytes
from playground.runner import Outcome
from playground.shapes import Model

TOKENS = 2048


@dataclass(frozen=True)
class Beside:
    """A peer's prefill of the same tokens. logits: of a prefill run now. roundings: to f16 in each of its layers."""

    launch: Callable[[], None]
    logits: Callable[[], np.ndarray]
    roundings: int


class Wall:
    """A model with random weights on a device, and the tokens of every prefill: made once, for many measurements.

    Refuses, before it allocates, what the device's free memory does not hold.
    """

    def __init__(self, device: Device, model: Model, tokens: int = TOKENS, seed: int = 1):
        self.device, self.model, self.nt, self.seed = device, model, tokens, seed
        self.arrays = DeviceArrays(device)
        needed = weight_bytes(model) + array_bytes(model, tokens)
        self.arrays.require(needed, f"a prefill of {tokens} tokens with weights of {weight_bytes(model):,} bytes")
        self.tokens = np.random.default_rng(seed).integers(0, model.vocabulary, tokens)
        weights = random_weights(self.arrays, model, seed)
        self.decoder = Decoder(self.arrays, model, weights, CONFIGURATIONS[-1], slots=tokens)

    def measure(
        self,
        configurations: Mapping[str, Configuration],
        control: str,
        rounds: int,
        progress: Callable[[str, int], contextlib.AbstractContextManager],
        beside: Mapping[str, Beside] = MappingProxyType({}),
    ) -> dict:
        """Samples [µs] of whole prefills by name, interleaved, with those of `control` again, as they go into a record.

        Only what agrees with the first configuration's logits is timed. progress: as Narrator.progress.
        """
        with contextlib.ExitStack() as held:
            launches, logits = {}, {}
            for name, configuration in configurations.items():
                decoder = self.decoder.using(configuration)
                logits[name] = decoder.forward(self.tokens)
                launches[name] = held.enter_context(self._graph(decoder)).launch
            ours = next(iter(logits.values()))
            gates = {name: self._gate(found, ours) for name, found in logits.items()}
            peer_gates = {name: self._gate(ours, peer.logits(), peer.roundings) for name, peer in beside.items()}
            launches |= {name: peer.launch for name, peer in beside.items()}
            passed = [name for name, gate in (gates | peer_gates).items() if gate.passed]
            sides = {name: launches[name] for name in passed}
            if control in sides:
                sides[CONTROL] = launches[control]
            rounds = rounds_for(len(sides), rounds)
            stopwatch = held.enter_context(Stopwatch(self.device))
            with progress("whole prefills", rounds) as advance, Telemetry(self.device.pci_bus_id) as telemetry:
                samples = stopwatch.measure(sides, rounds, advance)
        return {
            "tokens": self.nt,
            "seed": self.seed,
            "parity": {name: gate.as_record() for name, gate in gates.items()},
            "peer_parity": {name: gate.as_record() for name, gate in peer_gates.items()},
            "samples_us": as_record(samples, digits=1),
            "telemetry": telemetry.summary,
        }

    def budget(self, configuration: Configuration, repeats: int) -> dict:
        """Whole prefills and, right behind each, its passes one by one between events [µs], by role."""
        decoder = self.decoder.using(configuration)
        decoder.forward(self.tokens)
        passes = decoder.passes(self.nt)
        launches = [self.arrays.launcher(one.build, one.tensors, one.dims) for one in passes]
        with self._graph(decoder) as graph:
            times = [laps(self.device, [graph.launch, *launches], head_start=graph.launch) for _ in range(repeats)]
        whole, *alone = np.array(times).T
        return {"whole_us": [round(float(time), 1) for time in whole], "passes": by_role(passes, np.array(alone))}

    def _graph(self, decoder: Decoder) -> Graph:
        return Graph(self.device, lambda: decoder.launch(decoder.passes(self.nt)))

    def _gate(self, logits: np.ndarray, others: np.ndarray, *roundings: int) -> parity.Parity:
        return parity.check(Outcome({"logits": logits}), agreeing_logits(self.model, others, *roundings))
