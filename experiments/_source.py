"""What share of a prefill of 2048 tokens a baseline had on the source's GB10, where the source says so."""

from playground import Share

TOKENS, LAYERS = 2048, 28
AFTER_P5_MS = TOKENS / 2355 * 1000
BEFORE_P5_MS = TOKENS / 1435 * 1000

GEMM_TM128 = Share(597 / AFTER_P5_MS, "seed 000, §5: 597 ms of 2048 tokens at 2340 to 2370 tok/s")
GEMM_AND_CONVERT = Share(
    (597 + 56) / AFTER_P5_MS, "seed 000, §5: 597 ms of GEMM and 56 ms of convert, of 2048 tokens at 2340 to 2370 tok/s"
)
CONVERT = Share(56 / AFTER_P5_MS, "seed 000, §5: 56 ms of 2048 tokens at 2340 to 2370 tok/s, vectorised already")
ATTENTION_8N = Share(10.06 * LAYERS / BEFORE_P5_MS, "seed 000, §2.2: 28 × 10.06 ms of 2048 tokens at 1435 tok/s")
ATTENTION_P53 = Share(0.102, "seed 001, §1: 10.2 % of the GPU's busy time")

WALLS = {"8p": "1435", "P5·3": "2340–2370", "FAP2": "2603.5 → 2749.9"}
"""Tokens per second, by the configuration that stands for what the source measured."""
WALL_NOTE = (
    "The source's tokens per second, 2K prefill of the 7B on its GB10: seed 000, result, and for FAP2 seed 001, result,"
    " by when its GEMMs were other ones; llama.cpp there: 3401."
)
