"""torch on the device's own stream and on our buffers, for what is timed beside our kernels."""

from collections.abc import Callable
from types import SimpleNamespace


def torch_with_cuda():
    """The module, or None where it is not installed or has no CUDA."""
    try:
        import torch
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def stream_of(device, torch):
    """The device's stream, for torch to enqueue on."""
    return torch.cuda.ExternalStream(int(device.stream))


def tensor_of(buffer, torch):
    """A torch tensor on a Buffer's memory: nothing is copied."""
    interface = {"shape": buffer.shape, "typestr": buffer.dtype.str, "data": (buffer.address, False), "version": 3}
    return torch.as_tensor(SimpleNamespace(__cuda_array_interface__=interface), device="cuda")


def cublas(A, B, stream, torch) -> tuple[Callable[[], None], object]:
    """C [nt, od] f16 = A [nt, id] · B [od, id]ᵀ, both f16, by torch.mm: (launch, C)."""
    C = torch.empty(A.shape[0], B.shape[0], dtype=torch.float16, device=A.device)

    def launch():
        with torch.cuda.stream(stream):
            torch.mm(A, B.T, out=C)

    return launch, C


def captured(compute: Callable, stream, torch, warm_up: int = 1) -> tuple[Callable[[], None], object]:
    """`compute()` as a CUDA graph, whose CPU time stays outside of the events: (launch, what compute returns).

    warm_up: how often it runs before, for a capture cannot compile, plan, or make workspaces. The graph keeps addresses
    and not tensors: launch keeps `compute` alive, and so what that holds.
    """
    with torch.no_grad(), torch.cuda.stream(stream):
        for _ in range(warm_up):
            compute()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph, stream=stream):
        result = compute()

    def launch(_alive=compute):
        with torch.cuda.stream(stream):
            graph.replay()

    return launch, result
