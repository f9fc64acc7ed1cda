"""P5·4: does a k-step of 64 beat one of 32 by halving the barriers?  (source: GB10, −38 %, reverted)"""

from experiments import _source
from playground import Claim, Prediction, Probe
from playground.kernels import gemm_f16_nt
from playground.shapes import QWEN25_7B_PREFILL

probe = Probe(
    question="Do half the barriers per FLOP pay for twice the shared memory?",
    baseline=gemm_f16_nt(TM=128, KS=32),
    candidates=[gemm_f16_nt(TM=128, KS=64)],
    shapes=QWEN25_7B_PREFILL,
    claim=Claim(gpu="GB10", effect=-0.38, level="wall", verdict="reverted", source="seed 000, §3.3 KS=64"),
    share=_source.GEMM_TM128,
    predictions=[
        Prediction(
            "H200", 0.75, 1.0, "there as many blocks fit, but rows of 128 bytes conflict 8-way, of 64 bytes 4-way"
        )
    ],
)

if __name__ == "__main__":
    probe.main()
