"""Library kernels timed beside ours, if torch is installed with CUDA: each a function that enqueues one call."""

from collections.abc import Callable
from types import SimpleNamespace

from playground.gpu.workspace import Workspace


def peers(workspace: Workspace) -> dict[str, tuple[Callable[[], None], Callable]]:
    """Name -> (launch, output) for the workspace's contract; `output()` brings the peer's result back as an array."""
    try:
        import torch
    except ImportError:
        return {}
    if not torch.cuda.is_available():
        return {}
    return {"gemm_nt": _gemm_nt}.get(workspace.contract.name, lambda *_: {})(workspace, torch)


def _gemm_nt(workspace, torch):
    A, B = (_tensor(workspace.buffers[name], torch) for name in "AB")
    C = torch.empty(A.shape[0], B.shape[0], dtype=torch.float16, device=A.device)
    stream = torch.cuda.ExternalStream(int(workspace.device.stream))

    def launch():
        with torch.cuda.stream(stream):
            torch.mm(A, B.T, out=C)

    return {"cuBLAS, f16 out": (launch, lambda: C.cpu().numpy())}


def _tensor(buffer, torch):
    interface = {"shape": buffer.shape, "typestr": buffer.dtype.str, "data": (buffer.address, False), "version": 3}
    return torch.as_tensor(SimpleNamespace(__cuda_array_interface__=interface), device="cuda")
