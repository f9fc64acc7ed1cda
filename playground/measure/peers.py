"""Library kernels timed beside ours, if torch is installed with CUDA."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from playground.gpu.workspace import Workspace
from playground.measure import parity
from playground.measure.parity import Parity
from playground.measure.references import Expected
from playground.measure.torch_beside import captured, cublas, stream_of, tensor_of, torch_with_cuda
from playground.runner import Outcome

ATTENTION_BACKENDS = {"SDPA flash, f16 out": "FLASH_ATTENTION", "SDPA cuDNN, f16 out": "CUDNN_ATTENTION"}


Call = tuple[Callable[[], None], Callable[[], dict[str, np.ndarray]]]
"""(launch, outputs) of a library."""


@dataclass(frozen=True)
class Peer:
    """launch: enqueues one call. outputs: what the calls before it wrote, as the contract's outputs by name."""

    launch: Callable[[], None]
    outputs: Callable[[], dict[str, np.ndarray]]
    workspace: Workspace
    expected: Mapping[str, Expected]

    def check(self) -> Parity:
        """Call once and compare with the reference, rounded to f16 as the library rounds."""
        self.launch()
        self.workspace.device.synchronize()
        rounded = {name: one.rounded_to_f16() for name, one in self.expected.items()}
        return parity.check(Outcome(self.outputs()), rounded)


def peers(workspace: Workspace, expected: Mapping[str, Expected]) -> dict[str, Peer]:
    """Name -> peer, for the workspace's contract and inputs; none where the library cannot do the same."""
    torch = torch_with_cuda()
    if torch is None:
        return {}
    made = {
        "gemm_nt": _gemm_nt,
        "gemm_af32_nt": _gemm_af32_nt,
        "attention_hd64": _attention,
        "attention_hd128": _attention,
    }
    calls = made.get(workspace.contract.name, lambda *_: {})(workspace, torch)
    return {name: Peer(launch, outputs, workspace, expected) for name, (launch, outputs) in calls.items()}


def _gemm_nt(workspace, torch) -> dict[str, Call]:
    A, B = (tensor_of(workspace.buffers[name], torch) for name in "AB")
    launch, C = cublas(A, B, stream_of(workspace.device, torch), torch)
    return {"cuBLAS, f16 out": (launch, lambda: {"C": C.cpu().numpy()})}


def _gemm_af32_nt(workspace, torch) -> dict[str, Call]:
    """Two passes, as our baseline: a conversion of A, then cuBLAS."""
    A, B = (tensor_of(workspace.buffers[name], torch) for name in "AB")
    A16 = torch.empty(A.shape, dtype=torch.float16, device=A.device)
    stream = stream_of(workspace.device, torch)
    multiply, C = cublas(A16, B, stream, torch)

    def launch():
        with torch.cuda.stream(stream):
            A16.copy_(A)
        multiply()

    return {"torch copy → cuBLAS, f16 out": (launch, lambda: {"C": C.cpu().numpy()})}


def _attention(workspace, torch) -> dict[str, Call]:
    """SDPA's fused backends, on the same K and V; Q is rounded to f16 beforehand, as our kernels do on the way in.

    SDPA's causal mask starts at position 0: no peer for a cache with earlier tokens, or for other positions.
    """
    positions = workspace.buffers["positions"].download()
    if workspace.dims["kv"] != len(positions) or not np.array_equal(positions, np.arange(len(positions))):
        return {}
    Q, K, V = (tensor_of(workspace.buffers[name], torch) for name in "QKV")
    stream = stream_of(workspace.device, torch)
    with torch.cuda.stream(stream):
        operands = tuple(_heads_first(tensor) for tensor in (Q.half(), K, V))
    found = {}
    for name, backend in ATTENTION_BACKENDS.items():
        try:
            found[name] = _sdpa(backend, operands, stream, torch)
        except RuntimeError as error:  # a backend that this GPU or this build of torch does not have
            print(f"not timed beside: {name}: {' '.join(str(error).split())}", file=sys.stderr)
    return found


def _sdpa(backend: str, operands, stream, torch) -> Call:
    """One SDPA call as a CUDA graph: its CPU time is longer than a short kernel."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    def attend():
        with sdpa_kernel(getattr(SDPBackend, backend)):
            return scaled_dot_product_attention(*operands, is_causal=True, enable_gqa=True)

    launch, O = captured(attend, stream, torch)
    return launch, lambda: {"O": O[0].transpose(0, 1).cpu().numpy()}


def _heads_first(tensor):
    """A [tokens, heads, hd] tensor as SDPA wants it, [1, heads, tokens, hd]: a view."""
    return tensor.transpose(0, 1).unsqueeze(0)
