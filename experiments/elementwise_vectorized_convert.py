"""P5·1: does a convert of 8 elements per lane beat one of 1?  (source: GB10, +4 % wall with store_kv, landed)

The source's mechanism: "an f32 element is 4 B, so a 32 B sector uses 1/8 of itself". By the counts it is the other way
round: a warp's 32 neighbouring elements use their four sectors whole, and of 8 per lane each load uses half of its
sectors. What does fall, by a factor of 5, is the number of loads and stores. With 4 per lane both hold.
"""

from experiments import _source
from playground import Claim, Counted, Mechanism, Prediction, Probe
from playground.kernels import convert_f32_f16
from playground.shapes import QWEN25_7B, Shape

SCALAR, EIGHT = convert_f32_f16(per_lane=1), convert_f32_f16(per_lane=8)

probe = Probe(
    question="Do fewer and wider loads and stores bring f32 to f16 nearer to the speed of a copy?",
    baseline=SCALAR,
    candidates=[EIGHT, convert_f32_f16(per_lane=4)],
    shapes=[Shape({"n": 2048 * QWEN25_7B.feed_forward}, ("down's input",))],
    claim=Claim(
        gpu="GB10", effect=0.04, level="wall", verdict="landed", source="seed 000, §3.2 P5·1: with store_kv together"
    ),
    share=_source.CONVERT,
    predictions=[
        Prediction("H200", 1.3, 2.5, "4 B in flight per lane are 8 KB per SM, and 700 ns at its 36 B/ns ask for 25")
    ],
    mechanisms=[
        Mechanism(
            "one element per lane uses 1/8 of each sector",
            "seed 000, §3.2",
            Counted("used of each sector loaded", 0.12, 0.13, of=SCALAR),
        ),
        Mechanism("4 to 8 times fewer loads and stores", "seed 000, §3.2", Counted("loads and stores", 1 / 8, 1 / 4)),
        Mechanism(
            "8 elements per lane still use every sector whole",
            "ours",
            Counted("used of each sector loaded", 0.99, 1, of=EIGHT),
        ),
    ],
)

if __name__ == "__main__":
    probe.main()
