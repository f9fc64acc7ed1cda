"""P5·neg: does a 256-wide output tile beat a 128-wide one?  (source: GB10, −3 %, reverted)"""

from experiments import _source
from playground import Claim, Prediction, Probe
from playground.kernels import gemm_f16_nt
from playground.shapes import QWEN25_7B_PREFILL

probe = Probe(
    question="Does TM=256 pay for its shared memory?",
    baseline=gemm_f16_nt(TM=128, KS=32),
    candidates=[gemm_f16_nt(TM=256, KS=32, warps=16), gemm_f16_nt(TM=256, KS=32, warps=8)],
    shapes=QWEN25_7B_PREFILL,
    claim=Claim(gpu="GB10", effect=-0.03, level="wall", verdict="reverted", source="seed 000, §3.3 TM=256"),
    share=_source.GEMM_TM128,
    predictions=[
        Prediction("H200", 0.9, 1.0, "one block of 16 warps fits, by registers: no second one covers its barriers")
    ],
)

if __name__ == "__main__":
    probe.main()
