"""Fresh random inputs. Their values are part of a measurement (zeros let a GPU clock higher): the seed is recorded."""

import secrets

import numpy as np

from playground.kernels.contract import Contract

DISTRIBUTION = "standard normal"


def fresh_seed() -> int:
    """A seed that no earlier run has used, short enough to type."""
    return secrets.randbits(32)


def random_inputs(contract: Contract, dims: dict[str, int], seed: int) -> dict[str, np.ndarray]:
    """Standard normal values for every input tensor of `contract`."""
    generator = np.random.default_rng(seed)
    return {
        tensor.name: generator.standard_normal(contract.shape_of(tensor, dims), np.float32).astype(tensor.dtype)
        for tensor in contract.inputs
    }
