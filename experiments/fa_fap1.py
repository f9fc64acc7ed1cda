"""r46 FAP1: do a 32-key tile and padded S rows pay?  (source: GB10, kernel 5.16 → 4.58 ms, wall +0.27 %, reverted)"""

from experiments import _source
from playground import Claim, Prediction, Probe
from playground.kernels import fa_prefill
from playground.shapes import QWEN25_7B_ATTENTION

probe = Probe(
    question="Does half the tile, for twice the blocks per SM, move the wall?",
    baseline=fa_prefill(softmax="rows", pv="wmma", pad=8),
    candidates=[fa_prefill(softmax="rows", pv="wmma", pad=8, TKV=32, s_pad=4)],
    shapes=QWEN25_7B_ATTENTION,
    claim=Claim(
        gpu="GB10", effect=5.16 / 4.58 - 1, level="kernel", verdict="reverted", source="seed 001, §1: wall +0.27 %"
    ),
    share=_source.ATTENTION_P53,
    predictions=[Prediction("H200", 0.9, 1.3, "a second block fits, but the round trip of S and P stays")],
)

if __name__ == "__main__":
    probe.main()
