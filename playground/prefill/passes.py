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
    """The passes of each role together, as a record has them; times: [repeats, passes] µs, if they were measured."""
    found: dict[str, dict] = {}
    for number, one in enumerate(passes):
        work = one.work
        empty = {"role": one.role, "kind": one.kind, "kernel": str(one.build.kernel), "unit": work["unit"]}
        sums = found.setdefault(one.role, empty | {"launches": 0, "flop": 0, "bytes": 0, "samples_us": []})
        sums["launches"] += 1
        for counted in ("flop", "bytes"):
            sums[counted] += work[counted]
        if times is not None:
            sums["samples_us"] = times[:, number] + (sums["samples_us"] if sums["launches"] > 1 else 0)
    for sums in found.values():
        sums["samples_us"] = [round(float(value), 3) for value in sums["samples_us"]]
    return list(found.values())
