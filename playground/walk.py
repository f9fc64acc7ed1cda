"""The five steps that a probe walks: build, run, check, time, judge. The result is the record."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from playground.compiler.arch import GPUS, Arch
from playground.compiler.build import Build, build
from playground.errors import Refusal
from playground.kernels import Kernel
from playground.measure import parity, verdict
from playground.measure.inputs import DISTRIBUTION, fresh_seed, random_inputs
from playground.measure.references import REFERENCES
from playground.probe import Prediction, Probe
from playground.report import environment
from playground.report.narrator import Narrator
from playground.runner import Outcome
from playground.shapes import Shape

REFERENCE_GPUS = ("GB10", "H200")
CONTROL = "A/A"
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
    ledgers = _ledgers(probe, options.device, narrator)
    narrator.ledgers(ledgers)
    record = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "probe": name,
        "question": probe.question,
        "claim": vars(probe.claim),
        "predictions": [vars(prediction) for prediction in probe.predictions],
        "bar": probe.bar,
        **environment.commit(),
        "versions": environment.versions(),
        "gpu": _describe(options.device),
        "contract": probe.baseline.contract.name,
        "variants": [_variant(kernel, ledgers[str(kernel)]) for kernel in probe.kernels],
        "shapes": [],
        "verdicts": {},
    }
    if options.device is None:
        narrator.not_run()
        return record
    record["shapes"] = _run_on_gpu(probe, shapes, options, narrator)
    record["verdicts"] = _judge(probe, record["shapes"], options.device)
    narrator.verdicts(record)
    return record


def gates_held(record: dict) -> bool:
    """Whether every parity gate of the record passed."""
    return all(result["passed"] for shape in record["shapes"] for result in shape["parity"].values())


def _variant(kernel: Kernel, ledgers: dict[str, dict]) -> dict:
    return {"label": str(kernel), "name": kernel.name, "parameters": dict(kernel.parameters), "ledgers": ledgers}


def _ledgers(probe: Probe, device, narrator: Narrator) -> dict[str, dict[str, dict]]:
    """Per variant and GPU: its ledger, or {"refused": why}. What the GPU at hand cannot hold is refused outright."""
    archs: dict[str, Arch] = {device.name: device.arch} if device else {}
    known = {arch.cc for arch in archs.values()}
    archs |= {gpu: GPUS[gpu].arch for gpu in REFERENCE_GPUS if GPUS[gpu].arch.cc not in known}
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


def _run_on_gpu(probe: Probe, shapes: Sequence[Shape], options: Options, narrator: Narrator) -> list[dict]:
    from playground.gpu.workspace import Workspace

    builds = {str(kernel): build(kernel, options.device.arch) for kernel in probe.kernels}
    results = []
    for shape in shapes:
        seed = fresh_seed() if options.seed is None else options.seed
        with narrator.progress(f"{shape}: inputs and float64 reference", None):
            inputs = random_inputs(probe.baseline.contract, shape.dims, seed)
            expected = REFERENCES[probe.baseline.contract.name](inputs)
        with Workspace(options.device, probe.baseline.contract, inputs) as workspace:
            gates = {label: parity.check(workspace.run(build), expected) for label, build in builds.items()}
            narrator.parity(shape, gates)
            result = {
                "dims": dict(shape.dims),
                "roles": list(shape.roles),
                "flop": probe.baseline.contract.flop(**shape.dims),
                "seed": seed,
                "inputs": DISTRIBUTION,
                "parity": {label: gate.as_record() for label, gate in gates.items()},
            }
            passed = {label: builds[label] for label, gate in gates.items() if gate.passed}
            if str(probe.baseline) in passed and len(passed) > 1:
                result |= _time(probe, shape, workspace, passed, expected, options, narrator)
        results.append(result)
    return results


def _time(probe, shape, workspace, builds: dict[str, Build], expected, options: Options, narrator) -> dict:
    """Samples of every side that passed its gate, the baseline's second side and the peers, with telemetry."""
    from playground.gpu.program import Program
    from playground.gpu.telemetry import Telemetry
    from playground.measure.peers import peers
    from playground.measure.timing import Stopwatch, rounds_for

    device = options.device
    sides = {label: workspace.launcher(Program(build, device)) for label, build in builds.items()}
    sides[CONTROL] = workspace.launcher(Program(builds[str(probe.baseline)], device))
    gates = {}
    for name, (launch, output) in peers(workspace).items():
        launch()
        device.synchronize()
        gates[name] = parity.check(Outcome({"C": output()}), {"C": expected["C"].rounded_to_f16()})
        if gates[name].passed:
            sides[name] = launch
    narrator.parity(shape, gates)
    rounds = rounds_for(len(sides), options.rounds)
    timing = narrator.progress(f"{shape}: timing", rounds)
    with timing as advance, Stopwatch(device) as stopwatch, Telemetry(device.pci_bus_id) as telemetry:
        samples = stopwatch.measure(sides, rounds, advance)
    narrator.times(shape, probe.baseline.contract.flop(**shape.dims), samples)
    return {
        "peer_parity": {name: gate.as_record() for name, gate in gates.items()},
        "samples_us": {name: [round(value, 3) for value in values] for name, values in samples.items()},
        "telemetry": telemetry.summary,
    }


def _judge(probe: Probe, shapes: list[dict], device) -> dict:
    """Per candidate: the verdict on the sum over all shapes, each as often as the layer has it, and on every shape."""
    timed = [shape for shape in shapes if "samples_us" in shape]
    verdicts = {}
    for position, candidate in enumerate(probe.candidates):
        if len(timed) < len(shapes) or any(str(candidate) not in shape["samples_us"] for shape in timed):
            continue
        sides = (str(probe.baseline), str(candidate), CONTROL)
        per_shape = [verdict.judge(*(shape["samples_us"][side] for side in sides), bar=probe.bar) for shape in timed]
        total = [_layer_total(timed, side) for side in sides]
        judged = verdict.judge(*total, bar=probe.bar)
        verdicts[str(candidate)] = {
            **judged.as_record(),
            "prediction": _check_prediction(probe.predictions, device, judged) if position == 0 else None,
            "per_shape": [result.as_record() for result in per_shape],
        }
    return verdicts


def _layer_total(shapes: list[dict], side: str) -> np.ndarray:
    rounds = min(len(shape["samples_us"][side]) for shape in shapes)
    return sum(len(shape["roles"]) * np.array(shape["samples_us"][side][:rounds]) for shape in shapes)


def _check_prediction(predictions: Sequence[Prediction], device, judged: verdict.Verdict) -> str:
    """Whether the measured median "held" or "missed" what was predicted for this GPU; "none" if nothing was."""
    for prediction in predictions:
        if prediction.gpu.lower() in device.name.lower():
            return "held" if prediction.low <= judged.ratio.median <= prediction.high else "missed"
    return "none"


def _describe(device) -> dict | None:
    if device is None:
        return None
    return {
        "name": device.name,
        "arch": device.arch.name,
        "sms": device.sms,
        "l2_bytes": device.l2,
        "cuda_driver": device.driver_version,
    }
