"""Zeros for inputs: a kernel that multiplies the wrong rows is right on them, and a GPU may clock higher."""

import numpy as np

from experiments.pitfalls import b_offset_by_rows
from experiments.pitfalls._pitfall import PARITY, Examination, Objection, Pitfall, place_of, raised_at
from experiments.pitfalls._wrong_kernel import EMULATED_ON, SEED
from playground.compiler.arch import arch_named
from playground.compiler.build import build
from playground.emulator.workspace import EmulatedWorkspace
from playground.kernels import Kernel, gemm_f16_nt
from playground.measure import parity
from playground.measure.inputs import random_inputs
from playground.measure.references import REFERENCES
from playground.shapes import QWEN25_7B_PREFILL

EMULATED = {"nt": 64, "od": 128, "id": 128}
LAUNCHED = QWEN25_7B_PREFILL[0].dims


def drawn(kernel: Kernel, dims: dict[str, int]) -> dict[str, np.ndarray]:
    return random_inputs(kernel.contract, dims, SEED)


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
    """The times, the clocks and the power of the correct kernel on zeros and on values."""
    from experiments.pitfalls._times import medians, samples

    kernel = gemm_f16_nt(TM=128)
    runs = {
        side: samples(device, {side: kernel}, LAUNCHED, made(kernel, LAUNCHED))
        for side, made in (("zeros", zeros), ("values", drawn))
    }
    found = {side: run["samples_us"][side] for side, run in runs.items()}
    telemetry = {side: run["telemetry"] for side, run in runs.items()}
    times = medians(found)
    told = [
        f"{side} {reading[1]:.0f} {unit}"
        for name, unit in (("sm_clock_mhz", "MHz"), ("power_w", "W"))
        for side in runs
        if (reading := telemetry[side].get(name))
    ]
    says = f"zeros take {times['zeros'] / times['values']:.3f} of the time of values; {', '.join(told) or 'not read'}"
    return {"dims": LAUNCHED, "samples_us": found, "telemetry": telemetry, "says": says}


pitfall = Pitfall(
    mistake="the kernel is checked and timed on zeros",
    source="the seeds do not mention it",
    gate=PARITY,
    examine=examine,
    on_gpu=on_gpu,
)

if __name__ == "__main__":
    pitfall.main()
