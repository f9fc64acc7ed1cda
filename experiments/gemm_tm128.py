"""P5·2: does a 128-wide output tile beat a 64-wide one?  (source: GB10, kernel 455 → 302 ms, +30 % wall, landed)"""

from playground import Claim, ControlRun, Counted, InLedger, Mechanism, Prediction, Probe, Timed
from playground.kernels import gemm_f16_nt
from playground.shapes import QWEN25_7B_PREFILL

CANDIDATE = gemm_f16_nt(TM=128, KS=32)

probe = Probe(
    question="Do half the B re-reads and half the barriers per FLOP make TM=128 faster than TM=64?",
    baseline=gemm_f16_nt(TM=64, KS=32),
    candidates=[CANDIDATE],
    shapes=QWEN25_7B_PREFILL,
    claim=Claim(gpu="GB10", effect=455 / 302 - 1, level="kernel", verdict="landed", source="seed 000, §2.1"),
    predictions=[
        Prediction("H200", 1.1, 1.4, "a fragment of B is loaded for two mma either way, one of A for twice as many")
    ],
    mechanisms=[
        Mechanism(
            "a wider tile halves the barriers per FLOP", "seed 000, §2.1", Counted("barriers per MFLOP", 0.45, 0.55)
        ),
        Mechanism(
            "between two barriers each of 8 warps issues 8 MMAs",
            "seed 000, §3.2",
            Counted("MMAs per barrier", 8 * 8, 8 * 8, of=CANDIDATE),
        ),
        Mechanism(
            "a wider tile halves the re-reads of B per FLOP",
            "seed 000, §2.1",
            Counted("bytes read of B per kFLOP", 0.45, 0.55),
        ),
        Mechanism(
            "it is A, not B, whose re-reads a wider tile halves",
            "ours",
            Counted("bytes read of A per kFLOP", 0.45, 0.55),
        ),
        Mechanism(
            "staged bytes per FLOP fall by a quarter",
            "seed 000, §2.1",
            Counted("bytes staged by cp.async per kFLOP", 0.73, 0.77),
        ),
        Mechanism(
            "twice the accumulators per warp take fewer fragment loads per MMA",
            "seed 000, §2.1",
            Counted("fragment loads per MMA", 0.5, 0.75),
        ),
        Mechanism(
            "resident blocks do not halve: there the benefit of a wider tile would end",
            "seed 000, §6.3",
            InLedger("blocks per SM", 0.51, 1),
        ),
        Mechanism(
            "blocks that follow one another along nt share B's panel in L2, and that order is faster",
            "seed 000, §2.1",
            Timed(1.015, 10, baseline=gemm_f16_nt(TM=128, KS=32, order="od"), candidate=CANDIDATE),
        ),
        Mechanism(
            "the gain is of fewer 4-way conflicted fragment loads: padded rows leave little of it",
            "ours",
            ControlRun(without=(gemm_f16_nt(TM=64, KS=32, pad=8), gemm_f16_nt(TM=128, KS=32, pad=8))),
        ),
    ],
)

if __name__ == "__main__":
    probe.main()
