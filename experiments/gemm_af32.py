"""P5·neg: should the GEMM round A from f32 itself, instead of a pass before it?  (source: GB10, −8 % wall, reverted)

Whole pass against whole pass: the baseline is both launches. What rounding in the GEMM could gain at the most is what
the convert pass takes of them, which the run measures beside the rest: "measure the upper bound before building".
"""

from experiments import _source
from playground import Claim, Prediction, Probe
from playground.kernels import convert_gemm, gemm_f16_nt
from playground.shapes import QWEN25_7B_PREFILL

probe = Probe(
    question="Does a GEMM that takes A in f32 beat a convert pass and a GEMM that takes f16?",
    baseline=convert_gemm(per_lane=8, TM=128, KS=32),
    candidates=[gemm_f16_nt(TM=128, KS=32, AF32="sync"), gemm_f16_nt(TM=128, KS=32, AF32="mirror")],
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
)

if __name__ == "__main__":
    probe.main()
