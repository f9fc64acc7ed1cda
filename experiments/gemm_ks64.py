"""P5·4: does a k-step of 64 beat one of 32 by halving the barriers?  (source: GB10, −38 %, reverted)"""

from experiments import _source
from playground import Claim, ControlRun, Counted, InLedger, Mechanism, Prediction, Probe
from playground.kernels import gemm_f16_nt, pinned
from playground.shapes import QWEN25_7B_PREFILL

BASELINE, CANDIDATE = gemm_f16_nt(TM=128, KS=32), gemm_f16_nt(TM=128, KS=64)

probe = Probe(
    question="Do half the barriers per FLOP pay for twice the shared memory?",
    baseline=BASELINE,
    candidates=[CANDIDATE],
    shapes=QWEN25_7B_PREFILL,
    claim=Claim(gpu="GB10", effect=-0.38, level="wall", verdict="reverted", source="seed 000, §3.3 KS=64"),
    share=_source.GEMM_TM128,
    predictions=[
        Prediction(
            "H200", 0.75, 1.0, "there as many blocks fit, but rows of 128 bytes conflict 8-way, of 64 bytes 4-way"
        )
    ],
    mechanisms=[
        Mechanism(
            "a longer step halves the barriers per FLOP", "seed 000, §3.3", Counted("barriers per MFLOP", 0.45, 0.55)
        ),
        Mechanism("it needs 56 KB", "seed 000, §3.3", InLedger("shared bytes", 57_344, 57_344, of=CANDIDATE)),
        Mechanism("resident blocks halve", "seed 000, §3.3", InLedger("blocks per SM", 0.3, 0.5)),
        Mechanism(
            "it loses by the blocks that no longer fit: with one block per SM either way, little of the loss is left",
            "seed 000, §3.3",
            ControlRun(without=(pinned(BASELINE, 1), pinned(CANDIDATE, 1))),
        ),
        Mechanism(
            "rows of 128 bytes conflict twice as much as rows of 64",
            "ours",
            Counted("conflict degree of shared loads", 1.9, 2.1),
        ),
        Mechanism(
            "it loses by bank conflicts: with padded rows, little of the loss is left",
            "ours",
            ControlRun(without=(gemm_f16_nt(TM=128, KS=32, pad=8), gemm_f16_nt(TM=128, KS=64, pad=8))),
        ),
    ],
)

if __name__ == "__main__":
    probe.main()
