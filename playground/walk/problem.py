"""One shape of a probe: fresh inputs, what should come of them, and whether it did."""

from playground.measure import parity
from playground.measure.inputs import DISTRIBUTION, fresh_seed, random_inputs
from playground.measure.references import REFERENCES
from playground.probe import Probe
from playground.report.narrator import Narrator
from playground.runner import Outcome
from playground.shapes import Shape
from playground.walk.options import Options


def prepare(probe: Probe, shape: Shape, options: Options, narrator: Narrator):
    """The beginning of a shape's result, fresh inputs, and what should come of them."""
    contract = probe.baseline.contract
    seed = fresh_seed() if options.seed is None else options.seed
    with narrator.progress(f"{shape}: inputs and float64 reference", None):
        inputs = random_inputs(contract, shape.dims, seed)
        expected = REFERENCES[contract.name](inputs)
    begun = {"dims": dict(shape.dims), "roles": list(shape.roles)} | contract.work(shape.dims)
    return begun | {"seed": seed, "inputs": DISTRIBUTION}, inputs, expected


def gates(outcomes: dict[str, Outcome], expected, shape: Shape, narrator: Narrator) -> dict[str, dict]:
    """Whether each outcome is as expected, by label, as it goes into a record."""
    gates = {label: parity.check(outcome, expected) for label, outcome in outcomes.items()}
    narrator.parity(shape, gates)
    return {label: gate.as_record() for label, gate in gates.items()}
