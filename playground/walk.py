"""The steps that a probe walks: build, emulate, run, check, time, judge. The result is the record."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from playground import verdicts
from playground.compiler.arch import GPUS, Arch
from playground.compiler.build import Build, build
from playground.errors import Refusal
from playground.kernels import Kernel
from playground.measure import parity
from playground.measure.inputs import DISTRIBUTION, fresh_seed, random_inputs
from playground.measure.references import REFERENCES
from playground.measure.verdict import CONTROL
from playground.probe import Probe
from playground.report import environment
from playground.report.narrator import Narrator
from playground.runner import Outcome
from playground.shapes import Shape

REFERENCE_GPUS = ("GB10", "H200")
ROUNDS = 100
QUICK_ROUNDS = 24


@dataclass(frozen=True)
class Options:
    """How to run: the device or None, the rounds of timing, shapes and seed instead of the probe's own."""

    device: object | None
    rounds: int = ROUNDS
    shapes: Sequence[Shape] | None = None
    seed: int | None = None


def walk(name: str, probe: Probe, options: Options, narrator: Narrator) -> dict:
    """Run `probe` and return its record. Says what it finds to `narrator` as it goes."""
    narrator.question(probe)
    shapes = options.shapes or probe.shapes
    for shape in shapes:
        probe.baseline.contract.check_dimensions(shape.dims)
    archs = _archs(options.device)
    ledgers = _ledgers(probe, archs, options.device, narrator)
    narrator.ledgers(ledgers)
    record = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "probe": name,
        "question": probe.question,
        "claim": probe.claim and vars(probe.claim),
        "predictions": [vars(prediction) for prediction in probe.predictions],
        "bar": probe.bar,
        "share": probe.share and vars(probe.share),
        **environment.commit(),
        "versions": environment.versions() | {"cuda": build(probe.baseline, next(iter(archs.values()))).toolkit},
        "gpu": describe(options.device),
        "contract": probe.baseline.contract.name,
        "variants": [_variant(kernel, ledgers[str(kernel)]) for kernel in probe.kernels],
        "emulated": [],
        "shapes": [],
        "verdicts": {},
    }
    builds = {str(kernel): build(kernel, next(iter(archs.values()))) for kernel in probe.kernels}
    record["emulated"] = _emulate(probe, builds, options, narrator)
    if options.device is None:
        narrator.not_timed()
        return record
    record["shapes"] = _run_on_gpu(probe, builds, shapes, options, narrator)
    record["verdicts"] = verdicts.judge(probe, record["shapes"], options.device.name)
    narrator.verdicts(record)
    return record


def gates_held(record: dict) -> bool:
    """Whether every parity gate of the record passed, and the emulator saw no hazard."""
    runs = [*record["emulated"], *record["shapes"]]
    hazards = [found for run in record["emulated"] for found in run["hazards"].values()]
    return all(gate["passed"] for run in runs for gate in run["parity"].values()) and not any(hazards)


def _variant(kernel: Kernel, ledgers: dict[str, dict]) -> dict:
    return {"label": str(kernel), "name": kernel.name, "parameters": dict(kernel.parameters), "ledgers": ledgers}


def _archs(device) -> dict[str, Arch]:
    """The GPU at hand, and the reference GPUs of other architectures."""
    at_hand = {device.name: device.arch} if device else {}
    known = {arch.cc for arch in at_hand.values()}
    return at_hand | {gpu: GPUS[gpu].arch for gpu in REFERENCE_GPUS if GPUS[gpu].arch.cc not in known}


def _ledgers(probe: Probe, archs: dict[str, Arch], device, narrator: Narrator) -> dict[str, dict[str, dict]]:
    """Per variant and GPU: its ledger, or {"refused": why}. What the GPU at hand cannot hold is refused outright."""
    ledgers: dict[str, dict[str, dict]] = {str(kernel): {} for kernel in probe.kernels}
    with narrator.progress("building", len(probe.kernels) * len(archs)) as advance:
        for kernel in probe.kernels:
            for gpu, arch in archs.items():
                try:
                    ledgers[str(kernel)][gpu] = build(kernel, arch).ledger.as_record()
                except Refusal as refusal:
                    if device and gpu == device.name:
                        raise
                    ledgers[str(kernel)][gpu] = {"refused": str(refusal)}
                advance()
    return ledgers


def _emulate(probe: Probe, builds: dict[str, Build], options: Options, narrator: Narrator) -> list[dict]:
    """Parity, hazards and counts of every variant on the contract's small shapes, on the CPU."""
    from playground.emulator.runner import EmulatedWorkspace

    results = []
    for dims in probe.baseline.contract.emulated:
        result, inputs, expected = _prepare(probe, Shape(dims), options, narrator)
        with narrator.progress(f"{Shape(dims)}: emulating", len(builds)) as advance:
            workspace = EmulatedWorkspace(probe.baseline.contract, inputs)
            outcomes = {label: _advancing(workspace.run, build, advance) for label, build in builds.items()}
        result["arch"] = next(iter(builds.values())).arch.name
        result["parity"] = _gates(outcomes, expected, Shape(dims), narrator)
        result["hazards"] = {label: list(outcome.hazards) for label, outcome in outcomes.items()}
        result["counts"] = {label: dict(outcome.counts) for label, outcome in outcomes.items()}
        narrator.hazards(result["hazards"])
        results.append(result)
    narrator.counts(results[-1])
    return results


def _run_on_gpu(probe: Probe, builds, shapes: Sequence[Shape], options: Options, narrator: Narrator) -> list[dict]:
    """Parity of every variant on every shape, and the times of those that passed."""
    from playground.gpu.workspace import Workspace

    results = []
    for shape in shapes:
        result, inputs, expected = _prepare(probe, shape, options, narrator)
        with Workspace(options.device, probe.baseline.contract, inputs) as workspace:
            outcomes = {label: workspace.run(build) for label, build in builds.items()}
            result["parity"] = _gates(outcomes, expected, shape, narrator)
            passed = {label: build for label, build in builds.items() if result["parity"][label]["passed"]}
            if str(probe.baseline) in passed and len(passed) > 1:
                result |= _time(probe, shape, workspace, passed, expected, options, narrator)
        results.append(result)
    return results


def _prepare(probe: Probe, shape: Shape, options: Options, narrator: Narrator):
    """The beginning of a shape's result, fresh inputs, and what should come of them."""
    contract = probe.baseline.contract
    seed = fresh_seed() if options.seed is None else options.seed
    with narrator.progress(f"{shape}: inputs and float64 reference", None):
        inputs = random_inputs(contract, shape.dims, seed)
        expected = REFERENCES[contract.name](inputs)
    begun = {"dims": dict(shape.dims), "roles": list(shape.roles)} | contract.work(shape.dims)
    return begun | {"seed": seed, "inputs": DISTRIBUTION}, inputs, expected


def _gates(outcomes: dict[str, Outcome], expected, shape: Shape, narrator: Narrator) -> dict[str, dict]:
    gates = {label: parity.check(outcome, expected) for label, outcome in outcomes.items()}
    narrator.parity(shape, gates)
    return {label: gate.as_record() for label, gate in gates.items()}


def _advancing(run, build: Build, advance):
    outcome = run(build)
    advance()
    return outcome


def _time(probe, shape, workspace, builds: dict[str, Build], expected, options: Options, narrator) -> dict:
    """Samples of every side that passed its gate, the baseline's second side and the peers, with telemetry."""
    from playground.gpu.program import Program
    from playground.gpu.telemetry import Telemetry
    from playground.measure.peers import peers
    from playground.measure.plain_copy import copy_beside
    from playground.measure.timing import Stopwatch, rounds_for

    device = options.device
    sides = {label: workspace.launcher(Program(build, device)) for label, build in builds.items()}
    sides[CONTROL] = workspace.launcher(Program(builds[str(probe.baseline)], device))
    rounded, gates = {name: wanted.rounded_to_f16() for name, wanted in expected.items()}, {}
    for name, (launch, output) in peers(workspace).items():
        launch()
        device.synchronize()
        gates[name] = parity.check(Outcome(output()), rounded)
        if gates[name].passed:
            sides[name] = launch
    work = probe.baseline.contract.work(shape.dims)
    with copy_beside(device, work) as copies:
        for name, copy in copies.items():
            gates[name] = copy.check()
            if gates[name].passed:
                sides[name] = copy.launch
        narrator.parity(shape, gates)
        rounds = rounds_for(len(sides), options.rounds)
        timing = narrator.progress(f"{shape}: timing", rounds)
        with timing as advance, Stopwatch(device) as stopwatch, Telemetry(device.pci_bus_id) as telemetry:
            samples = stopwatch.measure(sides, rounds, advance)
    narrator.times(shape, work, samples, [name for name in gates if name in samples])
    return {
        "peer_parity": {name: gate.as_record() for name, gate in gates.items()},
        "samples_us": {name: [round(value, 3) for value in values] for name, values in samples.items()},
        "telemetry": telemetry.summary,
    }


def describe(device) -> dict | None:
    """The GPU as it goes into a record; None without one."""
    if device is None:
        return None
    return {
        "name": device.name,
        "arch": device.arch.name,
        "sms": device.sms,
        "l2_bytes": device.l2,
        "cuda_driver": device.driver_version,
    }
