"""Weights to begin training from."""

import math

import numpy as np

from playground.prefill.weights import tensor_shapes
from playground.shapes import Model

EMBEDDING = 0.02


def initial(model: Model, seed: int) -> dict[str, np.ndarray]:
    """By Hugging Face's names, f32: norms 1, biases 0, matrices normal with variance 1/in.

    What ends a branch (o_proj, down_proj) is smaller by √(2 · layers), so that the sum of all branches is not.
    """
    random = np.random.default_rng(seed)

    def drawn(name: str, shape: tuple[int, ...]) -> np.ndarray:
        if name.endswith("norm.weight"):
            return np.ones(shape, np.float32)
        if name.endswith("bias"):
            return np.zeros(shape, np.float32)
        deviation = EMBEDDING if "embed" in name else shape[-1] ** -0.5
        if "o_proj" in name or "down_proj" in name:
            deviation /= math.sqrt(2 * model.layers)
        return random.normal(0, deviation, shape).astype(np.float32)

    return {name: drawn(name, shape) for name, (shape, _) in tensor_shapes(model).items()}
