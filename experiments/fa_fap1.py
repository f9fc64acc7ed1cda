"""r46 FAP1: do a 32-key tile and padded S rows pay?  (source: GB10, kernel 5.16 → 4.58 ms, wall +0.27 %, reverted)"""

from experiments import _source
from playground import Claim, ControlRun, Counted, InLedger, Mechanism, Prediction, Probe
from playground.kernels import fa_prefill, pinned
from playground.shapes import QWEN25_7B_ATTENTION

BASELINE = fa_prefill(softmax="rows", pv="wmma", pad=8)
FAP1 = fa_prefill(softmax="rows", pv="wmma", pad=8, TKV=32, s_pad=4)

probe = Probe(
    question="Does half the tile, for twice the blocks per SM, move the wall?",
    baseline=BASELINE,
    candidates=[FAP1],
    shapes=QWEN25_7B_ATTENTION,
    claim=Claim(
        gpu="GB10", effect=5.16 / 4.58 - 1, level="kernel", verdict="reverted", source="seed 001, §1: wall +0.27 %"
    ),
    share=_source.ATTENTION_P53,
    predictions=[Prediction("H200", 0.9, 1.3, "a second block fits, but the round trip of S and P stays")],
    mechanisms=[
        Mechanism("69 KB leave one block per SM", "seed 001, §1", InLedger("blocks per SM", 1, 1, of=BASELINE)),
        Mechanism("half the tile makes two blocks of one", "seed 001, §2", InLedger("blocks per SM", 2, 2)),
        Mechanism(
            "S is stored with 8-way conflicts, which would make all stores' degree 2.7 (4-way: 1.7)",
            "seed 001, §2",
            Counted("conflict degree of shared stores", 2.5, 2.8, of=BASELINE),
        ),
        Mechanism(
            "padded rows of S and P leave no conflict in loads",
            "seed 001, §1",
            Counted("conflict degree of shared loads", 1, 1.01, of=FAP1),
        ),
        Mechanism(
            "the round trip of S and P is still there: shared bytes per FLOP do not fall",
            "seed 001, §2",
            Counted("shared bytes per kFLOP", 1, 1.3),
        ),
        Mechanism(
            "the gain is the second block's: with one block per SM either way, little of it is left",
            "seed 001, §2",
            ControlRun(without=(pinned(BASELINE, 1), pinned(FAP1, 1))),
        ),
        Mechanism(
            "the gain is of S's conflicts: with padded rows of S either way, little of it is left",
            "ours",
            ControlRun(without=(fa_prefill(softmax="rows", pv="wmma", pad=8, s_pad=4), FAP1)),
        ),
    ],
)

if __name__ == "__main__":
    probe.main()
