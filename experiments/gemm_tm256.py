"""P5·neg: does a 256-wide output tile beat a 128-wide one?  (source: GB10, −3 %, reverted)"""

from experiments import _source
from playground import Claim, ControlRun, Counted, InLedger, Mechanism, Prediction, Probe, Timed
from playground.kernels import gemm_f16_nt, pinned
from playground.shapes import QWEN25_7B_PREFILL

BASELINE = gemm_f16_nt(TM=128, KS=32)
SIXTEEN, EIGHT = gemm_f16_nt(TM=256, KS=32, warps=16), gemm_f16_nt(TM=256, KS=32, warps=8)
WIDE_WARPS = gemm_f16_nt(TM=128, KS=32, warps=4)

probe = Probe(
    question="Does TM=256 pay for its shared memory?",
    baseline=BASELINE,
    candidates=[SIXTEEN, EIGHT],
    shapes=QWEN25_7B_PREFILL,
    claim=Claim(gpu="GB10", effect=-0.03, level="wall", verdict="reverted", source="seed 000, §3.3 TM=256"),
    share=_source.GEMM_TM128,
    predictions=[
        Prediction("H200", 0.9, 1.0, "one block of 16 warps fits, by registers: no second one covers its barriers")
    ],
    mechanisms=[
        Mechanism("it hits KS=64's wall: resident blocks halve", "seed 000, §3.3", InLedger("blocks per SM", 0.3, 0.5)),
        Mechanism(
            "it loses by the blocks that no longer fit: with one block per SM either way, little of the loss is left",
            "seed 000, §3.3",
            ControlRun(without=(pinned(BASELINE, 1), pinned(SIXTEEN, 1))),
        ),
        Mechanism(
            "16 warps load as many fragments per MMA as TM=128 does",
            "ours",
            Counted("fragment loads per MMA", 0.99, 1.01),
        ),
        Mechanism(
            "8 warps, of 64 columns each, load three quarters of them",
            "ours",
            Counted("fragment loads per MMA", 0.74, 0.76, candidate=EIGHT),
        ),
        Mechanism(
            "it is warps of 32 columns that lose: with 64 columns per warp either way, little of the loss is left",
            "ours",
            ControlRun(without=(WIDE_WARPS, EIGHT)),
        ),
        Mechanism("warps of 64 columns gain at TM=128 too", "ours", Timed(1.015, 2, candidate=WIDE_WARPS)),
    ],
)

if __name__ == "__main__":
    probe.main()
