"""That a kernel does what its rate is said to count: in the emulator, and in the machine code."""

from collections.abc import Mapping

from playground.compiler.build import Build
from playground.emulator.workspace import EmulatedWorkspace
from playground.measure import parity
from playground.measure.microbenchmarks.benchmark import Benchmark

FEW, MORE = 2, 5
"""Turns of the loop: what more turns add to the counts is the loop's."""


def emulated(benchmark: Benchmark, built: Build) -> dict[str, bool]:
    """Check by name -> whether it held."""
    inputs = {turns: benchmark.small(turns) for turns in (FEW, MORE)}
    outcomes = {turns: EmulatedWorkspace(built.kernel.contract, given).run(built) for turns, given in inputs.items()}
    counted = benchmark.counted(outcomes[MORE].counts) - benchmark.counted(outcomes[FEW].counts)
    claimed = benchmark.work(inputs[MORE]) - benchmark.work(inputs[FEW])
    right = (parity.check(outcomes[turns], benchmark.expected(inputs[turns])).passed for turns in inputs)
    return {
        "emulated result": all(right),
        "no hazard": not any(outcome.hazards for outcome in outcomes.values()),
        "counts as claimed": claimed <= counted <= claimed * (1 + benchmark.slack),
    }


def machine_code(benchmark: Benchmark, built: Build) -> dict[str, bool | None]:
    """Whether the loop holds the instructions of a turn, once or unrolled, and no spill; None without nvdisasm."""
    ledger = built.ledger
    if ledger.instruction_mix is None:
        return {"machine code as claimed": None}
    held = all(
        found and found % per_turn == 0
        for opcode, per_turn in benchmark.machine_code.items()
        for found in (_number(ledger.instruction_mix, opcode),)
    )
    return {"machine code as claimed": held and not ledger.spill_stores + ledger.spill_loads + ledger.stack}


def _number(mix: Mapping[str, int], opcode: str) -> int:
    """Of all forms of an opcode: LDS is LDS and LDS.128, not LDSM."""
    return sum(number for form, number in mix.items() if f"{form}.".startswith(f"{opcode}."))
