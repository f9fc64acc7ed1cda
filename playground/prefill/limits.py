"""What a pass cannot be faster than on this GPU, as rates measured in the same run: a copy's, and cuBLAS's if there."""

import numpy as np

from playground.gpu.device import Device
from playground.measure.plain_copy import NAME, PlainCopy
from playground.measure.timing import Stopwatch, rounds_for
from playground.measure.torch_beside import cublas, stream_of, torch_with_cuda
from playground.report.rates import rates
from playground.shapes import QWEN25_7B_PREFILL

COPIED = 2**29
"""Bytes read and written: ten times the L2 of an H200."""
LARGEST = max(QWEN25_7B_PREFILL, key=lambda shape: np.prod(list(shape.dims.values())))
ROUNDS = 20


def limits(device: Device) -> dict[str, dict]:
    """Unit -> {"rate", "source"}, as it goes into a record; no TFLOP/s without torch."""
    with PlainCopy(device, COPIED) as copy, Stopwatch(device) as stopwatch:
        sides = {"GB/s": (copy.launch, {"unit": "GB/s", "bytes": COPIED}, NAME), **_cublas(device)}
        launches = {unit: launch for unit, (launch, _, _) in sides.items()}
        samples = stopwatch.measure(launches, rounds_for(len(sides), ROUNDS))
    return {
        unit: {"rate": round(float(rates(work, np.median(samples[unit]))), 1), "source": source}
        for unit, (_, work, source) in sides.items()
    }


def _cublas(device: Device) -> dict:
    """The largest GEMM of a layer, f16 in and out."""
    torch = torch_with_cuda()
    if torch is None:
        return {}
    nt, od, id = LARGEST.dims.values()
    A, B = (torch.randn(rows, id, dtype=torch.float16, device="cuda") for rows in (nt, od))
    launch, _ = cublas(A, B, stream_of(device, torch), torch)
    torch.cuda.synchronize()
    return {"TFLOP/s": (launch, {"unit": "TFLOP/s", "flop": 2 * nt * od * id}, f"cuBLAS, f16 out, {LARGEST}")}
