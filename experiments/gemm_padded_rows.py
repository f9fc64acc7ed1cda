"""Do padded rows free the GEMM of bank conflicts, as they freed attention?  (the source padded attention only)"""

from experiments import _source
from playground import Counted, InLedger, Mechanism, Prediction, Probe
from playground.kernels import gemm_f16_nt
from playground.shapes import QWEN25_7B_PREFILL

PADDED = gemm_f16_nt(TM=128, KS=32, pad=8)

probe = Probe(
    question="What do the 4-way bank conflicts of the GEMM's 64-byte rows cost, and do padded rows make KS=64 pay?",
    baseline=gemm_f16_nt(TM=128, KS=32),
    candidates=[PADDED, gemm_f16_nt(TM=128, KS=64, pad=8)],
    shapes=QWEN25_7B_PREFILL,
    share=_source.GEMM_TM128,
    predictions=[
        Prediction(
            "H200", 1.2, 2.2, "shared wavefronts fall to 0.42 of the baseline's, and next to them is the mma alone"
        )
    ],
    mechanisms=[
        Mechanism(
            "padded rows leave no conflict in the fragment loads",
            "ours",
            Counted("conflict degree of shared loads", 1, 1.01, of=PADDED),
        ),
        Mechanism(
            "shared wavefronts per FLOP fall to less than half",
            "ours",
            Counted("shared wavefronts per kFLOP", 0.4, 0.45),
        ),
        Mechanism("padding costs no resident block", "ours", InLedger("blocks per SM", 1, 1)),
    ],
)

if __name__ == "__main__":
    probe.main()
