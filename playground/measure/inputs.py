"""Fresh random inputs. Their values are part of a measurement (zeros let a GPU clock higher): the seed is recorded."""

import secrets

import numpy as np

from playground.kernels.contract import Contract

DISTRIBUTION = "standard normal"


def _last_rows(generator, nt, kv, **_):
    """A prefill: the last nt rows of the cache."""
    return np.arange(kv - nt, kv)


def _distinct_rows(generator, nt, slots, **_):
    """Any rows of the cache, in any order, none twice."""
    return generator.permutation(slots)[:nt]


def _context(generator, nt, **_):
    """Any positions of Qwen2.5's context of 32,768."""
    return generator.integers(0, 32_768, nt)


def _any_tokens(generator, nt, vocabulary, **_):
    """Any of the vocabulary, some more than once."""
    return generator.integers(0, vocabulary, nt)


DETERMINED = {
    "attention_hd64": {"positions": _last_rows},
    "attention_hd128": {"positions": _last_rows},
    "embedding": {"tokens": _any_tokens},
    "rope_hd64": {"positions": _context},
    "rope_hd128": {"positions": _context},
    "store_kv_f16": {"positions": _distinct_rows},
}
"""Contract -> tensor -> its values, from the random generator and the dimensions."""


def fresh_seed() -> int:
    """A seed that no earlier run has used, short enough to type."""
    return secrets.randbits(32)


def random_inputs(contract: Contract, dims: dict[str, int], seed: int) -> dict[str, np.ndarray]:
    """Standard normal values for every input tensor of `contract`, but for those that its meaning determines."""
    generator = np.random.default_rng(seed)
    determined = DETERMINED.get(contract.name, {})

    def values(tensor):
        if tensor.name in determined:
            return determined[tensor.name](generator, **dims).astype(tensor.dtype)
        return generator.standard_normal(contract.shape_of(tensor, dims), np.float32).astype(tensor.dtype)

    return {tensor.name: values(tensor) for tensor in contract.inputs}
