"""P5·3, second cut: do rows of 272 bytes beat rows of 256?  (source: GB10, both cuts 4.25 → 1.92 ms, landed)"""

from playground import Claim, Prediction, Probe
from playground.kernels import fa_prefill
from playground.shapes import QWEN25_7B_ATTENTION

probe = Probe(
    question="What do 8-way bank conflicts of 256-byte rows cost attention?",
    baseline=fa_prefill(softmax="rows", pv="wmma"),
    candidates=[fa_prefill(softmax="rows", pv="wmma", pad=8)],
    shapes=QWEN25_7B_ATTENTION,
    claim=Claim(
        gpu="GB10",
        effect=4.25 / 1.92 - 1,
        level="kernel",
        verdict="landed",
        source="seed 000, §2.2 P5·3, both cuts together",
    ),
    predictions=[Prediction("H200", 1.2, 2.5, "every ldmatrix of Q, K and V takes an eighth of the wavefronts")],
)

if __name__ == "__main__":
    probe.main()
