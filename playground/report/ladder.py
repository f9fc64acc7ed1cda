"""The flash-attention ladder in one picture, read from the latest records of its probes alone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from playground.errors import Refusal
from playground.kernels.attention.contract import TQ
from playground.report import record as records


@dataclass(frozen=True)
class Rung:
    """A kernel of the ladder. probe: the one that compares it with the rung `before`, whose candidate it is.

    source_ms: what the source measured per layer on its GB10, before and after; None where it did not. seed: the one
    that says so, 000 or 001; the figures of the two cannot be compared with one another.
    """

    name: str
    idea: str
    probe: str | None = None
    before: str | None = None
    source_ms: tuple[float | None, float] | None = None
    seed: str = "000"


@dataclass(frozen=True)
class Ladder:
    """The rungs, and the latest record of each of their probes that has one, by the probe's name."""

    rungs: Sequence[Rung]
    records: Mapping[str, dict]

    @property
    def probes(self) -> list[str]:
        return [rung.probe for rung in self.rungs if rung.probe]

    def sightings(self, name: str) -> Iterator[tuple[dict, dict]]:
        """(record, variant) wherever the rung was run: as a candidate, and as the baseline of the next ones."""
        for rung in self.rungs:
            if rung.probe in self.records:
                record = self.records[rung.probe]
                before, after = record["variants"][:2]
                yield from [(record, after)] if rung.name == name else []
                yield from [(record, before)] if rung.before == name else []

    def variant(self, name: str) -> dict | None:
        """The rung's variant (label, parameters, ledgers); refuses records that mean different kernels by it."""
        found = [(record["probe"], variant) for record, variant in self.sightings(name)]
        for probe, variant in found:
            if variant["label"] != found[0][1]["label"]:
                raise Refusal(
                    f"the rung {name} is {found[0][1]['label']} in {found[0][0]} and {variant['label']} in {probe}:"
                    " run the older probe again"
                )
        return found[0][1] if found else None

    def counts(self, name: str) -> tuple[dict, dict] | None:
        """(dimensions, the emulator's counts) of the rung on the largest emulated shape."""
        for record, variant in self.sightings(name):
            if record["emulated"] and variant["label"] in record["emulated"][-1]["counts"]:
                return record["emulated"][-1]["dims"], record["emulated"][-1]["counts"][variant["label"]]
        return None

    def shapes(self) -> list[dict]:
        """The dimensions that something was timed on, in the order of their size."""
        timed = [shape for record in self.records.values() for shape in record["shapes"] if "samples_us" in shape]
        dims = {tuple(shape["dims"].items()) for shape in timed}
        return [dict(one) for one in sorted(dims, key=lambda one: [length for _, length in one])]

    def medians(self, name: str, dims: Mapping[str, int]) -> list[float]:
        """The rung's median time in µs, one per record that timed it."""
        runs = ((_samples(record, dims), variant["label"]) for record, variant in self.sightings(name))
        return [float(np.median(samples[label])) for samples, label in runs if label in samples]

    def step(self, rung: Rung, dims: Mapping[str, int]) -> dict | None:
        """The ratio of the rung before to this one, with its interval, as judged in their common run."""
        if rung.probe not in self.records:
            return None
        record = self.records[rung.probe]
        judged = record["verdicts"].get(record["variants"][1]["label"])
        places = [place for place, shape in enumerate(record["shapes"]) if shape["dims"] == dims]
        return judged["per_shape"][places[0]]["ratio"] if judged and places else None

    def peers(self, dims: Mapping[str, int]) -> dict[str, list[float]]:
        """Library kernels: name -> medians in µs, one per record."""
        found: dict[str, list[float]] = {}
        for record in self.records.values():
            for shape in record["shapes"]:
                for peer in shape.get("peer_parity", {}) if shape["dims"] == dims else ():
                    if peer in shape["samples_us"]:
                        found.setdefault(peer, []).append(float(np.median(shape["samples_us"][peer])))
        return found

    def over_peer(self, name: str, peer: str, dims: Mapping[str, int]) -> float | None:
        """The rung's time over the peer's, in a run that timed both."""
        for record, variant in self.sightings(name):
            samples = _samples(record, dims)
            if variant["label"] in samples and peer in samples:
                return float(np.median(samples[variant["label"]]) / np.median(samples[peer]))
        return None


def tiles(dims: Mapping[str, int], TKV: int) -> int:
    """How many tiles of TQ queries × TKV keys a launch walks whose queries are the last nt of kv positions."""
    ends = (min(first + TQ, dims["nt"]) for first in range(0, dims["nt"], TQ))
    return dims["nh"] * sum(-(-(dims["kv"] - dims["nt"] + end) // TKV) for end in ends)


def read(folder: Path, rungs: Sequence[Rung]) -> Ladder:
    """The ladder of the records in one folder of results; warnings go to standard error."""
    paths = {rung.probe: folder / f"{rung.probe}.jsonl" for rung in rungs if rung.probe}
    latest = {probe: records.latest(path) for probe, path in paths.items() if path.exists()}
    return Ladder(rungs, {probe: record for probe, record in latest.items() if record})


def _samples(record: dict, dims: Mapping[str, int]) -> dict:
    return next((shape.get("samples_us", {}) for shape in record["shapes"] if shape["dims"] == dims), {})
