"""The same model in torch, if torch is installed with CUDA: F.linear (cuBLAS) and SDPA, eager and compiled."""

import sys
from collections.abc import Callable

import numpy as np

from playground.measure.torch_beside import captured, stream_of, tensor_of, torch_with_cuda
from playground.prefill.wall import Beside, Wall
from playground.shapes import Model

ROUNDINGS_PER_LAYER = 16
"""torch keeps everything in f16: beside what our kernels round, every GEMM's output, gate · up and both residuals."""


def peers(wall: Wall) -> dict[str, Beside]:
    """Name -> the wall's prefill in torch, on the wall's own weights and tokens; none without torch."""
    torch = torch_with_cuda()
    if torch is None:
        return {}
    from playground.prefill.torch_decoder import layer, rotations

    weights = {name: tensor_of(buffer, torch) for name, buffer in wall.decoder.weights.items()}
    weights = {name: tensor.half() for name, tensor in weights.items()}
    tokens = torch.from_numpy(wall.tokens).cuda()
    turn = rotations(wall.model, len(tokens), tokens.device)
    torch.cuda.synchronize()  # torch made them on its own stream
    stream, found = stream_of(wall.device, torch), {}
    for name, wrap in {"torch eager": _as_is, "torch.compile": torch.compile}.items():
        try:
            found[name] = _captured(wall.model, weights, tokens, turn, wrap(layer), stream, torch)
        except RuntimeError as error:  # no compiler for Triton on this machine, for one
            print(f"not timed beside: {name}: {' '.join(str(error).split())[:300]}", file=sys.stderr)
    return found


def _captured(model: Model, weights: dict, tokens, turn, block: Callable, stream, torch) -> Beside:
    """One prefill as a CUDA graph, like ours. block: a layer, maybe compiled."""
    from playground.prefill.torch_decoder import head, hidden

    def forward():
        x = hidden(model, weights, tokens[None], turn, block)
        return head(model, weights, x[:, -1:])[0, 0]

    launch, logits = captured(forward, stream, torch, warm_up=2)  # for torch.compile, once more than for a plan

    def result() -> np.ndarray:
        launch()
        stream.synchronize()
        return logits.float().cpu().numpy()

    return Beside(launch, result, ROUNDINGS_PER_LAYER)


def _as_is(function: Callable) -> Callable:
    return function
