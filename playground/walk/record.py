"""A probe's steps in order, and the record that they fill."""

from playground.compiler.build import Build
from playground.foretell import foretell
from playground.measure import layer_verdict, mechanisms
from playground.probe import Probe
from playground.report import environment
from playground.report.narrator import Narrator
from playground.walk.builds import build_all, first_that_all_fit, ledgers_of, variant
from playground.walk.emulated import emulate
from playground.walk.on_gpu import run_on_gpu
from playground.walk.options import Options


def walk(name: str, probe: Probe, options: Options, narrator: Narrator) -> dict:
    """Run `probe` and return its record. Says what it finds to `narrator` as it goes."""
    claim = probe.claim and str(probe.claim)
    kernels, controls = map(str, probe.kernels), map(str, probe.controls)
    narrator.question(probe.question, [*kernels], claim, [*map(str, probe.predictions)], [*controls])
    built = build_all(probe, options.device, narrator)
    ledgers = {str(kernel): ledgers_of(kernel, built[str(kernel)]) for kernel in (*probe.kernels, *probe.controls)}
    narrator.ledgers({step: per_gpu for steps in ledgers.values() for step, per_gpu in steps.items()})
    builds = first_that_all_fit(probe, built)
    record = _begun(name, probe, options, ledgers, builds[str(probe.baseline)].toolkit)
    record["emulated"] = emulate(probe, builds, options, narrator)
    record |= _foretell(probe, builds, options, narrator)
    narrator.floors(record)
    if options.device is None:
        narrator.not_timed()
    else:
        _time(record, probe, builds, options, narrator)
    record["mechanisms"] = mechanisms.judge(record, probe.statements())
    narrator.mechanisms(record["mechanisms"])
    return record


def _begun(name: str, probe: Probe, options: Options, ledgers: dict[str, dict], toolkit: str) -> dict:
    """The record before anything ran. toolkit: the version of CUDA that built the kernels."""
    return {
        "probe": name,
        "question": probe.question,
        "claim": probe.claim and vars(probe.claim),
        "predictions": [vars(prediction) for prediction in probe.predictions],
        "bar": probe.bar,
        "share": vars(probe.share) if probe.share and not options.shapes else None,  # it is of the probe's own shapes
        **environment.of_run(options.device, {"cuda": toolkit}),
        "contract": probe.baseline.contract.name,
        "variants": [variant(kernel, ledgers[str(kernel)]) for kernel in probe.kernels],
        "controls": [variant(kernel, ledgers[str(kernel)]) for kernel in probe.controls],
        "emulated": [],
        "shapes": [],
        "verdicts": {},
    }


def _time(record: dict, probe: Probe, builds: dict[str, Build], options: Options, narrator: Narrator) -> None:
    """Run on the GPU, and judge: the kernels, and the whole prefill too if that is wanted."""
    record["shapes"] = run_on_gpu(probe, builds, options, narrator)
    record["verdicts"] = layer_verdict.judge(record)
    record["upper_bounds"] = layer_verdict.upper_bounds(record)
    if options.wall and record["verdicts"]:
        record["wall"] = _whole_prefills(probe, record, options, narrator)
        record["verdicts"] = layer_verdict.judge(record)
    narrator.upper_bounds(record)
    narrator.verdicts(record)


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
