"""P5·3, first cut: does a softmax of one warp per row beat serial chains?  (source: GB10, both cuts 4.25 → 1.92 ms)"""

from playground import Claim, ControlRun, Counted, Mechanism, Prediction, Probe, Timed
from playground.kernels import fa_prefill
from playground.shapes import QWEN25_7B_ATTENTION

SERIAL_PADDED, ROWS_PADDED = (fa_prefill(softmax=softmax, pv="wmma", s_pad=4) for softmax in ("serial", "rows"))

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
    mechanisms=[
        Mechanism(
            "it is the serial chain on 2 of 8 warps that costs: 1.25 and more even where padding eases its conflicts",
            "seed 000, §2.2",
            Timed(1.25, 4, baseline=SERIAL_PADDED, candidate=ROWS_PADDED),
        ),
        Mechanism(
            "rows of 272 bytes take away most conflicts of a thread per row",
            "ours",
            Counted("conflict degree of shared stores", 0.1, 0.25, candidate=SERIAL_PADDED),
        ),
        Mechanism(
            "the gain is of the 32-way conflicts of a thread per row: rows of 272 bytes leave little of it",
            "ours",
            ControlRun(without=(SERIAL_PADDED, ROWS_PADDED)),
        ),
    ],
)

if __name__ == "__main__":
    probe.main()
