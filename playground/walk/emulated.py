"""The walk through the emulator: parity, hazards and counts of every variant and control."""

from playground.compiler.build import Build
from playground.kernels.contract import Contract
from playground.probe import Probe
from playground.report.narrator import Narrator
from playground.shapes import Shape
from playground.walk.options import Options
from playground.walk.problem import gates, prepare


def emulate(probe: Probe, builds: dict[str, Build], options: Options, narrator: Narrator) -> list[dict]:
    """Parity, hazards and counts of every variant, on the CPU, on the contract's small shapes.

    Shapes that the user gave take their place where there is no GPU to run them.
    """
    from playground.emulator.workspace import EmulatedWorkspace

    results = []
    for shape in _to_emulate(probe.baseline.contract, options):
        result, inputs, expected = prepare(probe, shape, options, narrator)
        workspace, of_ptx, distinct = EmulatedWorkspace(probe.baseline.contract, inputs), {}, _once_each(builds)
        with narrator.progress(f"{shape}: emulating", len(distinct)) as advance:
            for build in distinct:
                of_ptx[build.ptx] = workspace.run(build)
                advance()
        outcomes = {label: of_ptx[build.ptx] for label, build in builds.items()}
        result["arch"] = next(iter(builds.values())).arch.name
        result["parity"] = gates(outcomes, expected, shape, narrator)
        result["hazards"] = {label: list(outcome.hazards) for label, outcome in outcomes.items()}
        result["counts"] = {label: dict(outcome.counts) for label, outcome in outcomes.items()}
        narrator.hazards(result["hazards"])
        results.append(result)
    narrator.counts(results[-1])
    return results


def _to_emulate(contract: Contract, options: Options) -> list[Shape]:
    """The contract's small shapes, or the user's where there is no GPU; refused if that would take minutes."""
    from playground.emulator.workspace import require_small

    if options.device or not options.shapes:
        return [Shape(dims) for dims in contract.emulated]
    for shape in options.shapes:
        require_small(contract, shape)
    return list(options.shapes)


def _once_each(builds: dict[str, Build]) -> list[Build]:
    """One build of each PTX: a kernel whose blocks per SM are pinned has the PTX of the same one unpinned."""
    return list({build.ptx: build for build in reversed(builds.values())}.values())
