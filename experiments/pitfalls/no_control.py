"""A kernel timed against itself, one block of launches after the other and without a control: a difference appears."""

import numpy as np

from experiments.pitfalls._pitfall import STATISTICS, Examination, Objection, Pitfall, place_of
from playground.emulator.workspace import ROOT
from playground.kernels import Kernel, store_kv_f16
from playground.measure import verdict
from playground.measure.verdict import BAR, CONTROL, LANDED, REVERTED, Verdict
from playground.report import record

RECORD = ROOT / "results" / "nvidia-h200" / "elementwise_vectorized_store_kv.jsonl"
DIMS = {"nt": 2048, "nkt": 512, "slots": 4096}
LAUNCHES = 5
TRIALS = 200


def measured() -> tuple[np.ndarray, np.ndarray]:
    """Two sides of one run that are the same kernel on the same arrays, µs per round."""
    latest = record.latest(RECORD)
    (shape,) = (shape for shape in latest["shapes"] if shape["dims"] == DIMS)
    sides = shape["samples_us"]
    return np.array(sides[latest["variants"][0]["label"]]), np.array(sides[CONTROL])


def ratios_of_blocks(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The ratios that LAUNCHES of one side and then as many of the other would give, begun at each round."""
    before = np.lib.stride_tricks.sliding_window_view(first, LAUNCHES).mean(axis=1)[:-LAUNCHES]
    after = np.lib.stride_tricks.sliding_window_view(second, LAUNCHES).mean(axis=1)[LAUNCHES:]
    return before / after


def claimed(ratios: np.ndarray) -> np.ndarray:
    """Which of the ratios would be called a difference."""
    return np.abs(ratios - 1) > BAR


def objections(claims: np.ndarray, largest: float) -> list[Objection]:
    """The statistics object to a procedure that tells a kernel from itself in more than one case of twenty."""
    wrong = claims.mean()
    if wrong <= 1 - verdict.CONFIDENCE:
        return []
    says = (
        f"a kernel differs from itself by more than {BAR:.1%} in {wrong:.0%} of {len(claims)} comparisons,"
        f" by up to {largest:.1%}"
    )
    return [Objection(STATISTICS, says, place_of(verdict._decide))]


def in_blocks(first: np.ndarray, second: np.ndarray) -> list[Objection]:
    """What comes of comparing block with block."""
    ratios = ratios_of_blocks(first, second)
    return objections(claimed(ratios), np.abs(ratios - 1).max())


def interleaved(first: np.ndarray, second: np.ndarray) -> Verdict:
    """Every second round of both sides, judged with the first side's other rounds as its control."""
    rounds = len(first) // 2 * 2
    return verdict.judge(first[:rounds:2], second[:rounds:2], first[1:rounds:2])


def with_control(judged: Verdict) -> list[Objection]:
    """What comes of one verdict."""
    return objections(np.array([judged.verdict in (LANDED, REVERTED)]), abs(judged.ratio.median - 1))


def examine() -> Examination:
    sides = measured()
    judged = interleaved(*sides)
    return Examination(
        wrong=in_blocks(*sides),
        right=with_control(judged),
        where=place_of(ratios_of_blocks),
        notes=[
            f"blocks of {LAUNCHES} launches resampled from the A/A sides of {RECORD.relative_to(ROOT)}",
            f"interleaved and with a control, {len(sides[0]) // 2} rounds: {judged.verdict}: {judged.reason}",
        ],
    )


def on_gpu(name: str, device) -> dict:
    """The same live: TRIALS times one block and then the other, then one interleaved run."""
    from playground.compiler.build import build
    from playground.gpu.workspace import Workspace
    from playground.measure.inputs import random_inputs
    from playground.measure.timing import Stopwatch, as_record, rounds_for

    kernel: Kernel = store_kv_f16(per_lane=1)
    inputs = random_inputs(kernel.contract, DIMS, seed=1)
    with Workspace(device, kernel.contract, inputs) as workspace, Stopwatch(device) as stopwatch:
        launch = workspace.launcher(build(kernel, device.arch))

        def block() -> np.ndarray:
            return stopwatch.measure({"A": launch}, LAUNCHES)["A"]

        blocks = [(block(), block()) for _ in range(TRIALS)]
        sides = stopwatch.measure({"A": launch, "B": launch, CONTROL: launch}, rounds_for(3, 100))
    ratios = np.array([first.mean() / second.mean() for first, second in blocks])
    judged = verdict.judge(sides["A"], sides["B"], sides[CONTROL])
    return {
        "dims": DIMS,
        "ratios": [round(ratio, 5) for ratio in ratios],
        "samples_us": as_record(sides),
        "verdict": judged.as_record(),
        "says": (
            f"{claimed(ratios).sum()} of {TRIALS} comparisons in blocks claim a difference,"
            f" of up to {np.abs(ratios - 1).max():.1%}; interleaved: {judged.verdict}"
        ),
    }


pitfall = Pitfall(
    mistake=f"{LAUNCHES} launches of A, then {LAUNCHES} of B, and no second A to tell what the difference is worth",
    source='seed 000, §4: "interleaved A/B on the same binary" defends against "window-drift noise"',
    gate=STATISTICS,
    examine=examine,
    on_gpu=on_gpu,
)

if __name__ == "__main__":
    pitfall.main()
