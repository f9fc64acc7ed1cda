"""Launch after launch on the same arrays: they fit in L2, and the rate that comes out is not the memory's."""

from collections.abc import Mapping

import numpy as np

from experiments.pitfalls._pitfall import LIMITS, Examination, Objection, Pitfall, place_of
from playground.compiler.arch import GPUS
from playground.floors.rates import table_name
from playground.kernels import Kernel, convert_f32_f16
from playground.shapes import QWEN25_7B

GPU = GPUS["H200"]
DIMS = {"n": 2048 * QWEN25_7B.hidden}
ROUNDS = 100


def composed() -> Kernel:
    return convert_f32_f16(per_lane=8)


def touched(dims: Mapping[str, int]) -> int:
    """Bytes that a launch reads and writes."""
    return composed().contract.work(dims)["bytes"]


def touched_with_sweep(dims: Mapping[str, int]) -> int:
    """Bytes read and written from one launch to the next, when the stopwatch sweeps L2 in between."""
    from playground.measure.timing import SWEEP_SIZE

    return touched(dims) + SWEEP_SIZE * GPU.l2


def objections(between: int) -> list[Objection]:
    """A rate is limited by the memory only if L2 cannot hold what is touched from one launch to the next."""
    if between > GPU.l2:
        return []
    says = f"all {between:,} bytes of a launch fit in the {GPU.name}'s L2 of {GPU.l2:,}: a repeat need not touch memory"
    return [Objection(LIMITS, says, place_of(touched))]


def examine() -> Examination:
    return Examination(
        wrong=objections(touched(DIMS)),
        right=objections(touched_with_sweep(DIMS)),
        where=place_of(touched),
        notes=["what it would have claimed must be measured: it needs a GPU"],
    )


def on_gpu(name: str, device) -> dict:
    """The rates that both ways of timing give, beside the memory's."""
    from playground.compiler.build import build
    from playground.gpu.workspace import Workspace
    from playground.measure.inputs import random_inputs
    from playground.measure.timing import Stopwatch, as_record

    kernel = composed()
    inputs = random_inputs(kernel.contract, DIMS, seed=1)
    with Workspace(device, kernel.contract, inputs) as workspace, Stopwatch(device) as stopwatch:
        launch = workspace.launcher(build(kernel, device.arch))
        cold = stopwatch.measure({"cold": launch}, ROUNDS)
        stopwatch.sweep = launch  # the launch before is what keeps the GPU busy, and L2 warm
        warm = stopwatch.measure({"warm": launch}, ROUNDS)
    found = as_record(cold | warm)
    rates = {side: touched(DIMS) / float(np.median(times)) / 1e3 for side, times in found.items()}
    known = GPUS.get(table_name(device.name))
    memory = f"; the memory's is {known.bandwidth / 1e9:.0f}" if known else ""
    says = f"{rates['warm']:.0f} GB/s claimed with a warm L2, {rates['cold']:.0f} with a cold one{memory}"
    return {"dims": DIMS, "samples_us": found, "rates_gb_s": rates, "says": says}


pitfall = Pitfall(
    mistake="a kernel that only moves bytes is timed on arrays that the launch before left in L2",
    source="the seeds do not mention it",
    gate=LIMITS,
    examine=examine,
    on_gpu=on_gpu,
)

if __name__ == "__main__":
    pitfall.main()
