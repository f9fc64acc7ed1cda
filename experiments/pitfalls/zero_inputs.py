"""Zeros for inputs: a kernel that multiplies the wrong rows is right on them, and a GPU may clock higher."""

import numpy as np

from experiments.pitfalls import b_offset_by_rows
from experiments.pitfalls._pitfall import PARITY, Examination, Objection, Pitfall, place_of, raised_at
from experiments.pitfalls._wrong_kernel import EMULATED_ON, drawn
from playground.compiler.arch import arch_named
from playground.compiler.build import build
from playground.emulator.workspace import EmulatedWorkspace
from playground.kernels import Kernel, gemm_f16_nt
from playground.measure import parity
from playground.measure.references import REFERENCES
from playground.shapes import QWEN25_7B_PREFILL

EMULATED = {"nt": 64, "od": 128, "id": 128}
LAUNCHED = QWEN25_7B_PREFILL[0].dims
TURNS, ROUNDS = 6, 200


def zeros(kernel: Kernel, dims: dict[str, int]) -> dict[str, np.ndarray]:
    return {name: np.zeros_like(values) for name, values in drawn(kernel, dims).items()}


def run(kernel: Kernel, inputs: dict[str, np.ndarray]):
    """The outcome of a kernel in the emulator, and the largest error of its output."""
    outcome = EmulatedWorkspace(kernel.contract, inputs).run(build(kernel, arch_named(EMULATED_ON)))
    expected = REFERENCES[kernel.contract.name](inputs)
    return outcome, expected, max(np.abs(outcome.outputs[name] - one.values).max() for name, one in expected.items())


def objections(kernel: Kernel, inputs: dict[str, np.ndarray]) -> list[Objection]:
    """Parity objects to inputs on which it has no tolerance to be outside of: nothing could fail on them."""
    outcome, expected, _ = run(kernel, inputs)
    try:
        parity.check(outcome, expected)
    except ValueError as refused:
        return [Objection(PARITY, f"refused: {refused}", raised_at(refused))]
    return []


def examine() -> Examination:
    right, wrong = b_offset_by_rows.pair.right(), b_offset_by_rows.pair.wrong()
    errors = [run(wrong, inputs(wrong, EMULATED))[-1] for inputs in (zeros, drawn)]
    return Examination(
        wrong=objections(right, zeros(right, EMULATED)),
        right=objections(right, drawn(right, EMULATED)),
        where=place_of(zeros),
        notes=[f"the error of b_offset_by_rows, which is broken: {errors[0]:g} on zeros, {errors[1]:.3g} on values"],
    )


def on_gpu(name: str, device) -> dict:
    """The times, the clocks and the power of the correct kernel on values and on zeros, in turns of ROUNDS each."""
    from experiments.pitfalls._times import judged, samples, told
    from playground.measure.timing import order
    from playground.measure.verdict import CONTROL

    kernel = gemm_f16_nt(TM=128)
    sides = {"right": drawn(kernel, LAUNCHED), "wrong": zeros(kernel, LAUNCHED), CONTROL: drawn(kernel, LAUNCHED)}
    runs = {side: [] for side in sides}
    for turn in range(TURNS):
        for side in (list(sides)[place] for place in order(len(sides), turn)):
            runs[side].append(samples(device, {side: kernel}, sides[side], ROUNDS))
    times = {side: [time for run in runs[side] for time in run["samples_us"][side]] for side in sides}
    telemetry = {side: [run["telemetry"] for run in runs[side]] for side in sides}
    found = {"samples_us": times, "telemetry": telemetry, "verdict": judged(times)}
    return {"dims": LAUNCHED, **found, "says": f"zeros take {told(found)}{_readings(telemetry)}"}


def _readings(telemetry: dict[str, list[dict]]) -> str:
    """Median clock and power on zeros and on values, where the GPU tells them."""
    said = ""
    for name, unit in (("sm_clock_mhz", "MHz"), ("power_w", "W")):
        medians = {side: [turn[name][1] for turn in telemetry[side] if name in turn] for side in ("wrong", "right")}
        if all(medians.values()):
            said += f"; {np.mean(medians['wrong']):.0f} {unit} on zeros, {np.mean(medians['right']):.0f} on values"
    return said


pitfall = Pitfall(
    mistake="the kernel is checked and timed on zeros",
    source="the seeds do not mention it",
    gate=PARITY,
    examine=examine,
    on_gpu=on_gpu,
)

if __name__ == "__main__":
    pitfall.main()
