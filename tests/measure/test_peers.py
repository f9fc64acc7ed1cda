"""Peers that cannot be: without torch or its CUDA, and for attention that SDPA's causal mask does not describe."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("cuda.bindings")

from playground.kernels.attention.contract import attention_contract
from playground.kernels.gemm_f16_nt import GEMM_AF32_NT, GEMM_NT
from playground.measure.peers import peers

CPU_TORCH = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: False))
GPU_TORCH = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: True))
"""Anything else that is asked of it is an AttributeError."""


def workspace(contract, dims, positions=()):
    buffers = {"positions": SimpleNamespace(download=lambda: np.array(positions, np.int32))}
    return SimpleNamespace(contract=contract, dims=dims, buffers=buffers)


@pytest.mark.parametrize(
    "contract", [GEMM_NT, GEMM_AF32_NT, attention_contract(64), attention_contract(128)], ids=lambda c: c.name
)
@pytest.mark.parametrize("torch", [None, CPU_TORCH], ids=["no torch", "torch without CUDA"])
def test_without_torch_and_its_cuda_there_is_no_peer(monkeypatch, contract, torch):
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert peers(workspace(contract, {}), {}) == {}


def test_a_contract_that_no_library_has_has_no_peer(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", GPU_TORCH)
    assert peers(workspace(SimpleNamespace(name="something else"), {}), {}) == {}


@pytest.mark.parametrize(
    ("kv", "positions"), [(4, [1, 2, 3]), (3, [0, 2, 1]), (3, [0, 0, 2])], ids=["longer cache", "order", "twice"]
)
def test_attention_from_elsewhere_than_the_start_of_the_cache_has_no_peer(monkeypatch, kv, positions):
    monkeypatch.setitem(sys.modules, "torch", GPU_TORCH)
    assert peers(workspace(attention_contract(128), {"nt": 3, "nh": 2, "nk": 1, "kv": kv}, positions), {}) == {}


@pytest.mark.gpu
@pytest.mark.parametrize("hd", [64, 128])
def test_sdpa_agrees_with_the_reference_on_the_same_arrays(device, hd):
    pytest.importorskip("torch")
    from playground.gpu.workspace import Workspace
    from playground.measure.inputs import random_inputs
    from playground.measure.references import REFERENCES

    contract = attention_contract(hd)
    inputs = random_inputs(contract, {"nt": 200, "nh": 6, "nk": 2, "kv": 200}, seed=1)
    with Workspace(device, contract, inputs) as workspace:
        found = peers(workspace, REFERENCES[contract.name](inputs))
        assert list(found) == ["SDPA flash, f16 out", "SDPA cuDNN, f16 out"]
        for peer in found.values():
            assert peer.check().passed
            assert peer.outputs()["O"].dtype == np.float16
