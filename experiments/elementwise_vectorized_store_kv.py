"""P5·1: does storing 4 dims of K or V per lane beat 1?  (source: GB10, +4 % wall with convert, landed)

A layer's own store, 512 dims of 2048 tokens, moves 6 MB and is over within a launch's latency; the second shape is the
same row 37 times as often, 38.8 M elements, where bandwidth shows. There the source's geometry, a block of 3 KB for
every token, is compared with a flat grid, whose blocks hold parts of several tokens.
"""

from playground import Claim, Counted, Mechanism, Prediction, Probe
from playground.kernels import store_kv_f16
from playground.shapes import QWEN25_7B, Shape

NKT = QWEN25_7B.kv_heads * QWEN25_7B.head_dim
LONG = 2048 * QWEN25_7B.feed_forward // NKT
SCALAR = store_kv_f16(per_lane=1)

probe = Probe(
    question="Do fewer and wider loads and stores bring the cache's update nearer to the speed of a copy?",
    baseline=SCALAR,
    candidates=[
        store_kv_f16(per_lane=4),
        store_kv_f16(per_lane=4, grid="flat"),
        store_kv_f16(per_lane=8, grid="flat"),
    ],
    shapes=[
        Shape({"nt": 2048, "nkt": NKT, "slots": 4096}, ("k", "v")),
        Shape({"nt": LONG, "nkt": NKT, "slots": 81_920}),
    ],
    claim=Claim(
        gpu="GB10", effect=0.04, level="wall", verdict="landed", source="seed 000, §3.2 P5·1: with convert together"
    ),
    predictions=[Prediction("H200", 1.2, 2.5, "as with convert: four times the bytes in flight per lane")],
    mechanisms=[
        Mechanism(
            "one element per lane uses 1/8 of each sector",
            "seed 000, §3.2",
            Counted("used of each sector loaded", 0.12, 0.13, of=SCALAR),
        ),
        Mechanism("4 to 8 times fewer loads and stores", "seed 000, §3.2", Counted("loads and stores", 1 / 8, 1 / 4)),
    ],
)

if __name__ == "__main__":
    probe.main()
