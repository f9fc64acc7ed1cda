"""The steps that a probe walks: build, emulate, run, check, time, judge. The result is the record."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from playground.compiler.arch import GPUS, Arch
from playground.compiler.build import Build, PipelineBuild, build
from playground.errors import Refusal
from playground.foretell import foretell
from playground.kernels import Kernel, Pipeline
from playground.kernels.contract import Contract
from playground.measure import layer_verdict, mechanisms, parity
from playground.measure.inputs import DISTRIBUTION, fresh_seed, random_inputs
from playground.measure.references import REFERENCES
from playground.measure.verdict import CONTROL
from playground.probe import Probe
from playground.report import environment
from playground.report.narrator import Narrator
from playground.runner import Outcome
from playground.shapes import Shape

REFERENCE_GPUS = ("H200", "GB10")
ROUNDS = 100
EMULATED_FLOP = 4e9
EMULATED_ELEMENTS = 2e7
QUICK_ROUNDS = 24


@dataclass(frozen=True)
class Options:
    """How to run: the device or None, the rounds of timing, shapes and seed instead of the probe's own.

    wall: measures whole prefills, given the kernels and Narrator.progress (see prefill/swap.py); None: not wanted.
    """

    device: object | None
    rounds: int = ROUNDS
    shapes: Sequence[Shape] | None = None
    seed: int | None = None
    wall: Callable[[Sequence[Kernel], Callable], dict] | None = None


def walk(name: str, probe: Probe, options: Options, narrator: Narrator) -> dict:
    """Run `probe` and return its record. Says what it finds to `narrator` as it goes."""
    claim = probe.claim and str(probe.claim)
    kernels, controls = map(str, probe.kernels), map(str, probe.controls)
    narrator.question(probe.question, [*kernels], claim, [*map(str, probe.predictions)], [*controls])
    built = _build_all(probe, options.device, narrator)
    ledgers = {str(kernel): _ledgers(kernel, built[str(kernel)]) for kernel in (*probe.kernels, *probe.controls)}
    narrator.ledgers({step: per_gpu for steps in ledgers.values() for step, per_gpu in steps.items()})
    builds = _first_that_all_fit(probe, built)
    record = {
        "probe": name,
        "question": probe.question,
        "claim": probe.claim and vars(probe.claim),
        "predictions": [vars(prediction) for prediction in probe.predictions],
        "bar": probe.bar,
        "share": vars(probe.share) if probe.share and not options.shapes else None,  # it is of the probe's own shapes
        **environment.of_run(options.device, {"cuda": builds[str(probe.baseline)].toolkit}),
        "contract": probe.baseline.contract.name,
        "variants": [_variant(kernel, ledgers[str(kernel)]) for kernel in probe.kernels],
        "controls": [_variant(kernel, ledgers[str(kernel)]) for kernel in probe.controls],
        "emulated": [],
        "shapes": [],
        "verdicts": {},
    }
    record["emulated"] = _emulate(probe, builds, options, narrator)
    record |= _foretell(probe, builds, options, narrator)
    narrator.floors(record)
    if options.device is None:
        narrator.not_timed()
    else:
        record["shapes"] = _run_on_gpu(probe, builds, options, narrator)
        record["verdicts"] = layer_verdict.judge(record)
        record["upper_bounds"] = layer_verdict.upper_bounds(record)
        if options.wall and record["verdicts"]:
            record["wall"] = _whole_prefills(probe, record, options, narrator)
            record["verdicts"] = layer_verdict.judge(record)
        narrator.upper_bounds(record)
        narrator.verdicts(record)
    record["mechanisms"] = mechanisms.judge(record, probe.statements())
    narrator.mechanisms(record["mechanisms"])
    return record


def _whole_prefills(probe: Probe, record: dict, options: Options, narrator: Narrator) -> dict:
    """The prefill's time with each kernel that got a verdict in its place."""
    timed = [probe.baseline, *(kernel for kernel in probe.candidates if str(kernel) in record["verdicts"])]
    wall = options.wall(timed, narrator.progress)
    narrator.recorded_parity("whole prefill", wall["parity"])
    return wall


def _foretell(probe: Probe, builds: dict[str, Build], options: Options, narrator: Narrator) -> dict:
    """The floors on every known GPU, and the verdicts that they predict."""
    with narrator.progress("floors", len(probe.kernels)) as advance:
        return foretell(probe, builds, options.shapes, advance=advance)


def gates_held(record: dict) -> bool:
    """Whether every variant passed its gate on every shape and in the prefill, and the emulator saw no hazard."""
    runs = [*record["emulated"], *record["shapes"], *([record["wall"]] if "wall" in record else [])]
    hazards = [found for run in record["emulated"] for found in run["hazards"].values()]
    return all(gate["passed"] for run in runs for gate in run["parity"].values()) and not any(hazards)


def _variant(kernel: Kernel | Pipeline, ledgers: dict[str, dict]) -> dict:
    """A kernel with its ledgers, or a pipeline with the ledgers of every step."""
    told = {"label": str(kernel), "name": kernel.name, "parameters": kernel.described}
    steps = [
        {"label": str(step.kernel), "name": step.kernel.name, "ledgers": ledgers[str(step.kernel)]}
        for step in kernel.steps
    ]
    return told | ({"ledgers": steps[0]["ledgers"]} if len(steps) == 1 else {"steps": steps})


def _archs(device) -> dict[str, Arch]:
    """The GPU at hand, and the reference GPUs of other architectures."""
    at_hand = {device.name: device.arch} if device else {}
    known = {arch.cc for arch in at_hand.values()}
    return at_hand | {gpu: GPUS[gpu].arch for gpu in REFERENCE_GPUS if GPUS[gpu].arch.cc not in known}


def _build_all(probe: Probe, device, narrator: Narrator) -> dict[str, dict[str, Build | Refusal]]:
    """Per kernel and GPU: its build, or why there is none. A variant that the GPU at hand cannot hold is refused."""
    archs, kernels = _archs(device), (*probe.kernels, *probe.controls)
    built: dict[str, dict[str, Build | Refusal]] = {str(kernel): {} for kernel in kernels}
    with narrator.progress("building", len(kernels) * len(archs)) as advance:
        for kernel in kernels:
            for gpu, arch in archs.items():
                try:
                    built[str(kernel)][gpu] = build(kernel, arch)
                except Refusal as refusal:
                    if device and gpu == device.name and kernel in probe.kernels:
                        raise
                    built[str(kernel)][gpu] = refusal
                advance()
    return built


def _ledgers(kernel: Kernel | Pipeline, per_gpu: dict[str, Build | PipelineBuild | Refusal]) -> dict[str, dict]:
    """Per step and GPU: its ledger, or why there is none."""

    def ledger(found, position):
        return {"refused": str(found)} if isinstance(found, Refusal) else found.steps[position].ledger.as_record()

    return {
        str(step.kernel): {gpu: ledger(found, position) for gpu, found in per_gpu.items()}
        for position, step in enumerate(kernel.steps)
    }


def _first_that_all_fit(probe: Probe, built: dict[str, dict[str, Build | Refusal]]) -> dict[str, Build]:
    """The builds for the first GPU that no variant is too large for: the one at hand, or whose PTX to emulate.

    A control that is too large for it is left out.
    """
    for gpu in next(iter(built.values())):
        builds = {label: per_gpu[gpu] for label, per_gpu in built.items() if not isinstance(per_gpu[gpu], Refusal)}
        if all(str(kernel) in builds for kernel in probe.kernels):
            return builds
    raise next(found for per_gpu in built.values() for found in per_gpu.values() if isinstance(found, Refusal))


def _emulate(probe: Probe, builds: dict[str, Build], options: Options, narrator: Narrator) -> list[dict]:
    """Parity, hazards and counts of every variant, on the CPU, on the contract's small shapes.

    Shapes that the user gave take their place where there is no GPU to run them.
    """
    from playground.emulator.workspace import EmulatedWorkspace

    results = []
    for shape in _to_emulate(probe.baseline.contract, options):
        result, inputs, expected = _prepare(probe, shape, options, narrator)
        with narrator.progress(f"{shape}: emulating", len(_once_each(builds))) as advance:
            workspace = EmulatedWorkspace(probe.baseline.contract, inputs)
            of_ptx = {build.ptx: _advancing(workspace.run, build, advance) for build in _once_each(builds)}
            outcomes = {label: of_ptx[build.ptx] for label, build in builds.items()}
        result["arch"] = next(iter(builds.values())).arch.name
        result["parity"] = _gates(outcomes, expected, shape, narrator)
        result["hazards"] = {label: list(outcome.hazards) for label, outcome in outcomes.items()}
        result["counts"] = {label: dict(outcome.counts) for label, outcome in outcomes.items()}
        narrator.hazards(result["hazards"])
        results.append(result)
    narrator.counts(results[-1])
    return results


def _to_emulate(contract: Contract, options: Options) -> list[Shape]:
    """The contract's small shapes, or the user's where there is no GPU; refused if that would take minutes."""
    if options.device or not options.shapes:
        return [Shape(dims) for dims in contract.emulated]
    for shape in options.shapes:
        flop = contract.flop(**shape.dims)
        elements = sum(math.prod(contract.shape_of(tensor, shape.dims)) for tensor in contract.tensors)
        if flop > EMULATED_FLOP or elements > EMULATED_ELEMENTS:
            raise Refusal(
                f"{shape}: {flop:.1e} FLOP on {elements:.1e} elements are too much without a GPU:"
                f" the emulator is given at most {EMULATED_FLOP:.0e} on {EMULATED_ELEMENTS:.0e}"
            )
    return list(options.shapes)


def _run_on_gpu(probe: Probe, builds: dict[str, Build], options: Options, narrator: Narrator) -> list[dict]:
    """Parity of every variant on every shape, and the times of those that passed."""
    from playground.gpu.workspace import Workspace

    results = []
    for shape in options.shapes or probe.shapes:
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


def _once_each(builds: dict[str, Build]) -> list[Build]:
    """One build of each PTX: a kernel whose blocks per SM are pinned has the PTX of the same one unpinned."""
    return list({build.ptx: build for build in reversed(builds.values())}.values())


def _advancing(run, build: Build, advance):
    outcome = run(build)
    advance()
    return outcome


def _time(probe, shape, workspace, builds: dict[str, Build], expected, options: Options, narrator) -> dict:
    """Samples of every side that passed its gate, the baseline's second side and the peers, with telemetry."""
    from playground.gpu.telemetry import Telemetry
    from playground.measure.peers import peers
    from playground.measure.plain_copy import copy_beside
    from playground.measure.timing import Stopwatch, rounds_for

    device, contract = options.device, probe.baseline.contract
    baseline = builds[str(probe.baseline)]
    sides = {label: workspace.launcher(build) for label, build in builds.items()}
    sides[CONTROL] = workspace.launcher(baseline)
    beginnings = _beginnings(baseline, workspace)
    work = contract.work(shape.dims)
    with copy_beside(device, work) as beside:
        beside |= peers(workspace, expected)
        gates = {name: peer.check() for name, peer in beside.items()}
        sides |= {name: peer.launch for name, peer in beside.items() if gates[name].passed}
        narrator.parity(shape, gates)
        rounds = rounds_for(len(sides | beginnings), options.rounds)
        timing = narrator.progress(f"{shape}: timing", rounds)
        with timing as advance, Stopwatch(device) as stopwatch, Telemetry(device.pci_bus_id) as telemetry:
            samples = stopwatch.measure(sides | beginnings, rounds, advance)
    timed_beginnings = {name: samples.pop(name) for name in beginnings}
    narrator.times(shape, work, samples, [name for name in gates if name in samples])
    narrator.beginnings(timed_beginnings, samples[str(probe.baseline)])
    return {
        "peer_parity": {name: gate.as_record() for name, gate in gates.items()},
        "samples_us": _as_record(samples),
        **({"beginnings_us": _as_record(timed_beginnings)} if beginnings else {}),
        "telemetry": telemetry.summary,
    }


def _beginnings(build: Build | PipelineBuild, workspace) -> dict:
    """The first steps of a pipeline without the rest, by their labels: what a whole without them could gain at most."""
    labels = [str(step.kernel) for step in build.kernel.steps]
    return {" → ".join(labels[:steps]): workspace.launcher(build, steps) for steps in range(1, len(labels))}


def _as_record(samples) -> dict[str, list[float]]:
    return {name: [round(value, 3) for value in values] for name, values in samples.items()}
