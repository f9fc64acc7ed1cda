"""Where does the time of Qwen2.5-7B's prefill go, step by step?  (source: GB10, 1435 → 2340–2370 → 2749.9 tokens/s)

Every configuration of the campaign runs end to end in the emulator, one tiny layer, against float64. On a GPU all of
them then prefill 2048 tokens of the 7B with random weights, interleaved, and each is timed again pass by pass.
Exit status 1 if a gate fails, or if the passes of a configuration do not add up to its wall within 3 %.
"""

import sys
from collections.abc import Sequence

from experiments import _source
from playground.command import Parser, refusing, seed
from playground.compiler.arch import arch_named
from playground.measure.inputs import fresh_seed
from playground.prefill.configuration import CONFIGURATIONS, Configuration
from playground.prefill.gate import emulated
from playground.prefill.listing import listed
from playground.prefill.passes import by_role
from playground.recording import add_record_options, run_recorded
from playground.report import budget, environment, prefill
from playground.report.narrator import Narrator
from playground.shapes import QWEN25_7B

ROUNDS, REPEATS = 18, 3
EMULATED_ON = "H200"


def make_record(device, out, number: int, configurations: Sequence[Configuration]) -> dict:
    """Emulate every configuration, time all of them on `device` if it is one; print what is found to `out`."""
    narrator = Narrator(out)
    arch = device.arch if device else arch_named(EMULATED_ON)
    out.print(__doc__.splitlines()[0], style="bold")
    record = {
        "probe": budget.NAME,
        **environment.of_run(device),
        "model": vars(QWEN25_7B),
        "tokens": _source.TOKENS,
        "seed": number,
        "source": _source.WALL_NOTE,
        "configurations": [_described(configuration) for configuration in configurations],
        "emulated": _emulate(arch, number, configurations, narrator),
        "wall": None,
    }
    if device is None:
        record["budgets"] = {
            one.name: {"whole_us": [], "passes": by_role(listed(QWEN25_7B, one, arch, _source.TOKENS))}
            for one in configurations
        }
        out.print(prefill.work_table(record, configurations[-1].name))
        narrator.not_timed()
        return record
    record |= _measure(device, number, configurations, narrator)
    out.print()
    out.print(prefill.summary(record))
    for name in budget.measured(record)[-1:]:
        out.print()
        out.print(prefill.budget_table(record, name))
    return record


def held(record: dict) -> bool:
    """Whether every configuration is right, without hazards, and its budget, if measured, adds up to its wall."""
    gates = [gate for one in record["emulated"].values() for gate in one["parity"].values()]
    gates += record["wall"]["parity"].values() if record["wall"] else []
    hazards = [one["hazards"] for one in record["emulated"].values()]
    closed = [budget.closes(record, name) for name in budget.measured(record)]
    return all(gate["passed"] for gate in gates) and not any(hazards) and all(closed)


def _described(configuration: Configuration) -> dict:
    kernels = {kind: str(kernel) for kind, kernel in configuration.kernels.items()}
    return {"name": configuration.name, "kernels": kernels, "source": _source.WALLS.get(configuration.name)}


def _emulate(arch, number: int, configurations: Sequence[Configuration], narrator: Narrator) -> dict[str, dict]:
    found = {}
    with narrator.progress("one tiny layer, emulated", len(configurations)) as advance:
        for configuration in configurations:
            found[configuration.name] = emulated(configuration, arch, number)
            advance()
    for what in ("prefill", "decode"):
        narrator.recorded_parity(f"one layer, {what}", {name: one["parity"][what] for name, one in found.items()})
    narrator.hazards({name: one["hazards"] for name, one in found.items()})
    return found


def _measure(device, number: int, configurations: Sequence[Configuration], narrator: Narrator) -> dict:
    """The wall of every configuration and peer, their budgets, and the limits that passes are told against."""
    from playground.prefill.limits import limits
    from playground.prefill.peers import peers
    from playground.prefill.wall import Wall

    wall = Wall(device, QWEN25_7B, _source.TOKENS, number)
    found = {"limits": limits(device), "budgets": {}}
    beside = peers(wall)
    by_name = {one.name: one for one in configurations}
    found["peers"] = list(beside)
    found["wall"] = wall.measure(by_name, configurations[-1].name, ROUNDS, narrator.progress, beside)
    narrator.recorded_parity("whole prefill", found["wall"]["parity"] | found["wall"]["peer_parity"])
    with narrator.progress("pass by pass", len(configurations)) as advance:
        for name, configuration in by_name.items():
            found["budgets"][name] = wall.budget(configuration, REPEATS)
            advance()
    return found


@refusing
def main(arguments: Sequence[str] | None = None) -> int:
    parser = Parser(prog=f"python -m experiments.{budget.NAME}", description=__doc__.splitlines()[0])
    add_record_options(parser)
    parser.add_argument(
        "--quick", action="store_true", help="only the steps that the source gives tokens per second for, and the last"
    )
    parser.add_argument("--seed", type=seed, help="of weights and tokens, to repeat a run (default: fresh)")
    options = parser.parse_args(arguments)
    number = fresh_seed() if options.seed is None else options.seed
    chosen = [
        one for one in CONFIGURATIONS if not options.quick or one.name in _source.WALLS or one is CONFIGURATIONS[-1]
    ]
    return run_recorded(budget.NAME, options, lambda device, out: make_record(device, out, number, chosen), held)


if __name__ == "__main__":
    sys.exit(main())
