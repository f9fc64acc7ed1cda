"""Training in bfloat16 and f32, export in f16, and a judgement of what was exported, read back, on held-out files."""

import math
import platform
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from playground.prefill import checkpoint
from playground.prefill.small import BYTES_2M
from playground.prefill.small.initial import initial
from playground.prefill.small.text import Text, standard_library
from playground.prefill.torch_decoder import logits
from playground.prefill.weights import tensor_shapes

CONTEXT = 512
WARM_UP, PEAK_RATE, LAST_RATE = 200, 2e-3, 1e-4
WEIGHT_DECAY, BETAS, LARGEST_NORM = 0.1, (0.9, 0.98), 1.0
JUDGED = 2**19
"""Held-out bytes to judge by, at most."""


def train(directory: Path, steps: int, batch: int, seed: int) -> float:
    """Train on torch's GPU, or on the CPU without one, export to `directory`; bits per byte of what was exported."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    checkpoint.prepare(directory)
    text = standard_library()
    print(
        f"{len(text.training):,} bytes to learn from, {len(text.held_out):,} held out; on {_name(device)}", flush=True
    )
    began = time.perf_counter()
    weights = fit(text.training, steps, batch, seed, device)
    seconds = time.perf_counter() - began
    trained = bits_per_byte(weights, text.held_out, torch.bfloat16)

    facts = _facts(text) | {
        "training": f"{steps} steps of {batch} x {CONTEXT} bytes, seed {seed}",
        "trained_on": f"{_name(device)}, torch {torch.__version__}, {seconds:.1f} s",
    }
    shapes = tensor_shapes(BYTES_2M)
    exported = {name: weight.detach().cpu().numpy().astype(shapes[name][1]) for name, weight in weights.items()}
    checkpoint.save(directory, BYTES_2M, exported, facts)
    _, read_back = checkpoint.load(directory)
    weights = {name: torch.tensor(array, device=device).float() for name, array in read_back.items()}
    judged = bits_per_byte(weights, text.held_out, torch.float32)
    checkpoint.save(directory, BYTES_2M, read_back, facts | {"held_out_bits_per_byte": f"{judged:.4f}"})

    path = directory / checkpoint.WHOLE
    print(f"held out: {trained:.4f} bits/byte as trained, {judged:.4f} as exported; {seconds:.1f} s")
    print(f"{path}: {path.stat().st_size:,} bytes")
    return judged


def fit(text: np.ndarray, steps: int, batch: int, seed: int, device: torch.device) -> dict[str, Tensor]:
    """Trained weights, f32, by Hugging Face's names."""
    begin = initial(BYTES_2M, seed)
    weights = {name: torch.tensor(array, device=device, requires_grad=True) for name, array in begin.items()}
    parameters = list(weights.values())
    decayed = [{"params": [weight for weight in parameters if weight.dim() == 2], "weight_decay": WEIGHT_DECAY}]
    others = [{"params": [weight for weight in parameters if weight.dim() == 1], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(decayed + others, lr=PEAK_RATE, betas=BETAS, fused=device.type == "cuda")
    began = time.perf_counter()
    for step, sequences in enumerate(batches(text, steps, batch, seed)):
        for group in optimizer.param_groups:
            group["lr"] = rate(step, steps)
        loss = cross_entropy(weights, torch.from_numpy(sequences).to(device), torch.bfloat16)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, LARGEST_NORM)
        optimizer.step()
        if (step + 1) % max(1, steps // 20) == 0:
            nats = loss.item()
            bits, seconds = nats / math.log(2), time.perf_counter() - began
            print(f"step {step + 1:5} of {steps}: loss {nats:.4f}, {bits:.4f} bits/byte, {seconds:.1f} s", flush=True)
    return weights


def batches(text: np.ndarray, steps: int, batch: int, seed: int) -> Iterator[np.ndarray]:
    """int64 [batch, CONTEXT + 1] from random places, once per step."""
    random = np.random.default_rng(seed)
    for _ in range(steps):
        starts = random.integers(0, len(text) - CONTEXT, batch)
        yield text[starts[:, None] + np.arange(CONTEXT + 1)].astype(np.int64)


def rate(step: int, steps: int) -> float:
    """The learning rate: a line up, half a cosine down."""
    if step < WARM_UP:
        return PEAK_RATE * (step + 1) / WARM_UP
    falling = (1 + math.cos(math.pi * (step - WARM_UP) / max(1, steps - WARM_UP))) / 2
    return LAST_RATE + (PEAK_RATE - LAST_RATE) * falling


def cross_entropy(weights: Mapping[str, Tensor], sequences: Tensor, dtype: torch.dtype) -> Tensor:
    """Mean over all bytes but the first of each sequence, in nats; matrix products in `dtype`."""
    with torch.autocast(sequences.device.type, torch.bfloat16, enabled=dtype == torch.bfloat16):
        predicted = logits(BYTES_2M, weights, sequences[:, :-1])
    return F.cross_entropy(predicted.float().flatten(0, 1), sequences[:, 1:].flatten())


@torch.no_grad()
def bits_per_byte(weights: Mapping[str, Tensor], text: np.ndarray, dtype: torch.dtype) -> float:
    """Of `text` in pieces of CONTEXT + 1 bytes, each judged without what comes before it."""
    pieces = min(len(text), JUDGED) // (CONTEXT + 1)
    sequences = torch.from_numpy(text[: pieces * (CONTEXT + 1)].reshape(pieces, -1).astype(np.int64))
    device = next(iter(weights.values())).device
    losses = [cross_entropy(weights, some.to(device), dtype).item() * len(some) for some in sequences.split(64)]
    return sum(losses) / pieces / math.log(2)


def _facts(text: Text) -> dict[str, str]:
    """What the weights come from, for the header of their file."""
    size = f"{len(text.training):,} bytes to learn from, {len(text.held_out):,} held out"
    return {"text": f"standard library of Python {platform.python_version()}: {size}", "text_sha256": text.sha256}


def _name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
