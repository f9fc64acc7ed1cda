"""The small model with real margins: bytes, head dimension 128, grouped queries, trained on what Python ships."""

from pathlib import Path

from playground.shapes import Model

BYTES_2M = Model(
    layers=3, hidden=256, heads=2, kv_heads=1, head_dim=128, feed_forward=512, vocabulary=256, tied=True
)  # fmt: skip
DIRECTORY = Path(__file__).parent / "bytes_2m"
"""Where its weights are, as a Qwen2.5 directory."""
