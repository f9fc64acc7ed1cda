"""P5·0: does P · V on tensor cores beat scalar FMA?  (source: GB10, 10.06 → 4.24 ms per layer, landed)"""

from experiments import _source
from playground import Claim, Counted, Mechanism, Prediction, Probe
from playground.kernels import fa_prefill
from playground.shapes import QWEN25_7B_ATTENTION

probe = Probe(
    question="How much of the attention kernel is the scalar P · V?",
    baseline=fa_prefill(softmax="serial", pv="scalar"),
    candidates=[fa_prefill(softmax="serial", pv="wmma")],
    shapes=QWEN25_7B_ATTENTION,
    claim=Claim(gpu="GB10", effect=10.06 / 4.24 - 1, level="kernel", verdict="landed", source="seed 000, §2.2 P5·0"),
    share=_source.ATTENTION_8N,
    predictions=[
        Prediction("H200", 1.5, 4, "half of the arithmetic moves from FMA to tensor cores, the serial softmax stays")
    ],
    mechanisms=[
        Mechanism("half of the arithmetic had no tensor core", "seed 000, §2.2", Counted("MMAs", 1.95, 2.05)),
        Mechanism(
            "what falls away is instructions: at most a quarter is left",
            "ours",
            Counted("warp instructions", 0.1, 0.25),
        ),
    ],
)

if __name__ == "__main__":
    probe.main()
