"""A pass: one launch of the prefill, as data; and the passes of each role together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from playground.compiler.build import Build


@dataclass(frozen=True)
class Pass:
    """One launch. role: what it does in the layer (q, gate, residual, …). kind: the configuration's field it uses."""

    role: str
    kind: str
    build: Build
    tensors: Sequence
    dims: Mapping[str, int]

    @property
    def work(self) -> dict:
        """FLOP, bytes and the unit of its rate: see Contract.work."""
        return self.build.kernel.contract.work(self.dims)


def by_role(passes: Sequence[Pass], times: np.ndarray | None = None) -> list[dict]:
    """The passes of each role together, as a record has them; times: [passes, repeats] µs, if they were measured."""
    if times is None:
        times = np.empty((len(passes), 0))
    found: dict[str, dict] = {}
    for one, samples in zip(passes, times):
        work = one.work
        described = {"role": one.role, "kind": one.kind, "kernel": str(one.build.kernel), "unit": work["unit"]}
        sums = found.setdefault(one.role, described | {"launches": 0, "flop": 0, "bytes": 0, "samples_us": 0})
        sums["launches"] += 1
        sums["flop"] += work["flop"]
        sums["bytes"] += work["bytes"]
        sums["samples_us"] = sums["samples_us"] + samples
    return [sums | {"samples_us": [round(float(time), 3) for time in sums["samples_us"]]} for sums in found.values()]
