"""r48 FAP2: does a softmax that never leaves registers pay?  (source: GB10, kernel 5.16 → 2.12 ms, landed)"""

from experiments import _source
from playground import Claim, Prediction, Probe
from playground.kernels import fa_prefill
from playground.shapes import QWEN25_7B_ATTENTION

probe = Probe(
    question="What does the round trip of S and P through shared memory cost?",
    baseline=fa_prefill(softmax="rows", pv="wmma", pad=8),
    candidates=[
        fa_prefill(softmax="registers", TKV=32, pad=8),
        fa_prefill(softmax="registers", TKV=32, pad=8, min_blocks=3),
    ],
    shapes=QWEN25_7B_ATTENTION,
    claim=Claim(gpu="GB10", effect=5.16 / 2.12 - 1, level="kernel", verdict="landed", source="seed 001, result"),
    share=_source.ATTENTION_P53,
    predictions=[Prediction("H200", 1.5, 3, "S and P, 56 KB of shared traffic per tile, never leave the registers")],
)

if __name__ == "__main__":
    probe.main()
