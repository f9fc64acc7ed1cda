"""The source's budget of a prefill of 2048 tokens on its GB10: what share of the wall a probe can move."""

from playground import Share

WALL_MS = 2048 / 2355 * 1000

GEMM = Share(597 / WALL_MS, "seed 000, §5: 597 ms of GEMM in 2048 tokens at 2355 tok/s")
ATTENTION = Share(0.102, "seed 001, §1: attention 10.2 % of GPU busy time before r48")
CONVERT = Share(56 / WALL_MS, "seed 000, §5: 56 ms of convert in 2048 tokens, vectorised already: at least that")
