"""P5·neg: should the GEMM round A from f32 itself, instead of a pass before it?  (source: GB10, −8 % wall, reverted)

Whole pass against whole pass: the baseline is both launches. What rounding in the GEMM could gain at the most is what
the convert pass takes of them, which the run measures beside the rest: "measure the upper bound before building".
"""

from experiments import _source
from playground import Claim, ControlRun, Counted, Mechanism, Prediction, Probe, Timed, UpperBound
from playground.kernels import convert_gemm, gemm_f16_nt
from playground.shapes import QWEN25_7B_PREFILL

BASELINE = convert_gemm(per_lane=8, TM=128, KS=32)
SYNC, MIRROR = gemm_f16_nt(TM=128, KS=32, AF32="sync"), gemm_f16_nt(TM=128, KS=32, AF32="mirror")
BASELINE_WAITS = convert_gemm(per_lane=8, TM=128, KS=32, staging="sync")
SYNC_WAITS = gemm_f16_nt(TM=128, KS=32, staging="sync", AF32="sync")

probe = Probe(
    question="Does a GEMM that takes A in f32 beat a convert pass and a GEMM that takes f16?",
    baseline=BASELINE,
    candidates=[SYNC, MIRROR],
    shapes=QWEN25_7B_PREFILL,
    claim=Claim(gpu="GB10", effect=-0.08, level="wall", verdict="reverted", source="seed 000, §3.2 and §3.3: AF32, v1"),
    share=_source.GEMM_AND_CONVERT,
    predictions=[
        Prediction(
            "H200",
            0.85,
            1.0,
            "without the convert pass, 6 B per element of A at 4.3 TB/s, a layer of 9.1 ms gains 1.5 % at most, and"
            " every k-step of every block waits for its loads of A instead",
        )
    ],
    mechanisms=[
        Mechanism(
            "v1 loads A synchronously: cp.async stages only B, two thirds of the bytes",
            "seed 000, §3.2",
            Counted("bytes staged by cp.async per kFLOP", 0.66, 0.67),
        ),
        Mechanism(
            "the mirror's copies are asynchronous again: B's, and A's in f32",
            "seed 000, §3.2",
            Counted("bytes staged by cp.async per kFLOP", 1.33, 1.34, candidate=MIRROR),
        ),
        Mechanism("v1's loads stall every k-tile, and it loses", "seed 000, §3.2", Timed(0.5, 0.985, candidate=SYNC)),
        Mechanism(
            "it loses by that stall: with asynchronous copies in the mirror, little of the loss is left",
            "seed 000, §3.2",
            ControlRun(without=(BASELINE, MIRROR)),
        ),
        Mechanism(
            "it loses by that stall: where both GEMMs wait for all their loads, little of the loss is left",
            "ours",
            ControlRun(without=(BASELINE_WAITS, SYNC_WAITS)),
        ),
        Mechanism("the convert pass is only 6 % of the wall", "seed 000, §3.3", UpperBound(1, 1 / (1 - 0.06))),
        Mechanism("to do without it gains less than the bar", "ours", UpperBound(1, 1.015)),
    ],
)

if __name__ == "__main__":
    probe.main()
