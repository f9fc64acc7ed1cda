"""P5·2: does a 128-wide output tile beat a 64-wide one?  (source: GB10, kernel 455 → 302 ms, +30 % wall, landed)"""

from playground import Claim, Prediction, Probe
from playground.kernels import gemm_f16_nt
from playground.shapes import QWEN25_7B_PREFILL

probe = Probe(
    question="Do half the B re-reads and half the barriers per FLOP make TM=128 faster than TM=64?",
    baseline=gemm_f16_nt(TM=64, KS=32),
    candidates=[gemm_f16_nt(TM=128, KS=32)],
    shapes=QWEN25_7B_PREFILL,
    claim=Claim(gpu="GB10", effect=455 / 302 - 1, level="kernel", verdict="landed", source="seed 000, §2.1"),
    predictions=[
        Prediction("H200", 1.1, 1.4, "a fragment of B is loaded for two mma either way, one of A for twice as many")
    ],
)

if __name__ == "__main__":
    probe.main()
