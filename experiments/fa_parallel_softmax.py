"""P5·3, first cut: does a softmax of one warp per row beat serial chains?  (source: GB10, both cuts 4.25 → 1.92 ms)"""

from playground import Claim, Prediction, Probe
from playground.kernels import fa_prefill
from playground.shapes import QWEN25_7B_ATTENTION

probe = Probe(
    question="How much do 64 serial chains on 2 of 8 warps cost?",
    baseline=fa_prefill(softmax="serial", pv="wmma"),
    candidates=[fa_prefill(softmax="rows", pv="wmma")],
    shapes=QWEN25_7B_ATTENTION,
    claim=Claim(
        gpu="GB10",
        effect=4.25 / 1.92 - 1,
        level="kernel",
        verdict="landed",
        source="seed 000, §2.2 P5·3, both cuts together",
    ),
    predictions=[
        Prediction(
            "H200", 1.5, 3, "the chain of 64 columns on one thread becomes 8 rows per warp with 32 lanes on each"
        )
    ],
)

if __name__ == "__main__":
    probe.main()
