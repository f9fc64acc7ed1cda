"""P5·3, second cut: do rows of 272 bytes beat rows of 256?  (source: GB10, both cuts 4.25 → 1.92 ms, landed)"""

from playground import Claim, Counted, InLedger, Mechanism, Prediction, Probe
from playground.kernels import fa_prefill
from playground.shapes import QWEN25_7B_ATTENTION

BASELINE, PADDED = (fa_prefill(softmax="rows", pv="wmma", pad=pad) for pad in (0, 8))

probe = Probe(
    question="What do 8-way bank conflicts of 256-byte rows cost attention?",
    baseline=BASELINE,
    candidates=[PADDED],
    shapes=QWEN25_7B_ATTENTION,
    claim=Claim(
        gpu="GB10",
        effect=4.25 / 1.92 - 1,
        level="kernel",
        verdict="landed",
        source="seed 000, §2.2 P5·3, both cuts together",
    ),
    predictions=[Prediction("H200", 1.2, 2.5, "every ldmatrix of Q, K and V takes an eighth of the wavefronts")],
    mechanisms=[
        Mechanism(
            "rows of 256 bytes make nearly every shared load conflict 8-way",
            "seed 000, §2.2",
            Counted("conflict degree of shared loads", 6, 8, of=BASELINE),
        ),
        Mechanism(
            "a row's shift by 4 banks takes these conflicts away",
            "seed 000, §2.2",
            Counted("conflict degree of shared loads", 0.12, 0.25),
        ),
        Mechanism(
            "69 KB are what the padded layout takes",
            "seed 000, §3.3",
            InLedger("shared bytes", 69_000, 70_000, of=PADDED),
        ),
        Mechanism("padding costs no resident block", "ours", InLedger("blocks per SM", 1, 1)),
    ],
)

if __name__ == "__main__":
    probe.main()
