"""Fresh random inputs. Their values are part of a measurement (zeros let a GPU clock higher): the seed is recorded."""

import secrets

import numpy as np

from playground.kernels.contract import Contract

DETERMINED = {"positions": lambda nt, kv, **_: np.arange(kv - nt, kv)}  # a prefill: the last nt rows of the cache
DISTRIBUTION = "standard normal"


def fresh_seed() -> int:
    """A seed that no earlier run has used, short enough to type."""
    return secrets.randbits(32)


def random_inputs(contract: Contract, dims: dict[str, int], seed: int) -> dict[str, np.ndarray]:
    """Standard normal values for every input tensor of `contract`, but for those that its meaning determines."""
    generator = np.random.default_rng(seed)

    def values(tensor):
        if tensor.name in DETERMINED:
            return DETERMINED[tensor.name](**dims).astype(tensor.dtype)
        return generator.standard_normal(contract.shape_of(tensor, dims), np.float32).astype(tensor.dtype)

    return {tensor.name: values(tensor) for tensor in contract.inputs}
