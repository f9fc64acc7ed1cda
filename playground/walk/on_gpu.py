"""The walk on a GPU: parity of every variant, control and peer, and the times of those that passed."""

from playground.compiler.build import Build, PipelineBuild
from playground.measure.verdict import CONTROL
from playground.probe import Probe
from playground.report.narrator import Narrator
from playground.walk.options import Options
from playground.walk.problem import gates, prepare


def run_on_gpu(probe: Probe, builds: dict[str, Build], options: Options, narrator: Narrator) -> list[dict]:
    """Parity of every variant on every shape, and the times of those that passed."""
    from playground.gpu.workspace import Workspace

    results = []
    for shape in options.shapes or probe.shapes:
        result, inputs, expected = prepare(probe, shape, options, narrator)
        with Workspace(options.device, probe.baseline.contract, inputs) as workspace:
            outcomes = {label: workspace.run(build) for label, build in builds.items()}
            result["parity"] = gates(outcomes, expected, shape, narrator)
            passed = {label: build for label, build in builds.items() if result["parity"][label]["passed"]}
            if str(probe.baseline) in passed and len(passed) > 1:
                result |= _time(probe, shape, workspace, passed, expected, options, narrator)
        results.append(result)
    return results


def _time(probe, shape, workspace, builds: dict[str, Build], expected, options: Options, narrator) -> dict:
    """Samples of every side that passed its gate, the baseline's second side and the peers, with telemetry."""
    from playground.gpu.telemetry import Telemetry
    from playground.measure.peers import peers
    from playground.measure.plain_copy import copy_beside
    from playground.measure.timing import Stopwatch, as_record, rounds_for

    device, contract = options.device, probe.baseline.contract
    baseline = builds[str(probe.baseline)]
    sides = {label: workspace.launcher(build) for label, build in builds.items()}
    sides[CONTROL] = workspace.launcher(baseline)
    beginnings = _beginnings(baseline, workspace)
    work = contract.work(shape.dims)
    with copy_beside(device, work) as beside:
        beside |= peers(workspace, expected)
        peer_gates = {name: peer.check() for name, peer in beside.items()}
        sides |= {name: peer.launch for name, peer in beside.items() if peer_gates[name].passed}
        narrator.parity(shape, peer_gates)
        rounds = rounds_for(len(sides | beginnings), options.rounds)
        timing = narrator.progress(f"{shape}: timing", rounds)
        with timing as advance, Stopwatch(device) as stopwatch, Telemetry(device.pci_bus_id) as telemetry:
            samples = stopwatch.measure(sides | beginnings, rounds, advance)
    timed_beginnings = {name: samples.pop(name) for name in beginnings}
    narrator.times(shape, work, samples, [name for name in peer_gates if name in samples])
    narrator.beginnings(timed_beginnings, samples[str(probe.baseline)])
    return {
        "peer_parity": {name: gate.as_record() for name, gate in peer_gates.items()},
        "samples_us": as_record(samples),
        **({"beginnings_us": as_record(timed_beginnings)} if beginnings else {}),
        "telemetry": telemetry.summary,
    }


def _beginnings(build: Build | PipelineBuild, workspace) -> dict:
    """The first steps of a pipeline without the rest, by their labels: what a whole without them could gain at most."""
    labels = [str(step.kernel) for step in build.kernel.steps]
    return {" → ".join(labels[:steps]): workspace.launcher(build, steps) for steps in range(1, len(labels))}
