"""How fast the emulator is, and how many times Numba's own simulator on the same kernel.

python tests/emulator/benchmark.py

Times are the best of three after one run to warm up, checks on. The simulator runs the same grid of the same plain
kernel in a process of its own (NUMBA_ENABLE_CUDASIM=1), after one block to warm up.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]

TILE, SIZE = 16, 64
BLOCKS = SIZE // TILE
FIGURES = {"GEMM 128×256×512": 0.2, "GEMM 512×1024×1024": 6.0, "attention nt 512, hd 64": 1.0}

SIMULATED = f"""
import time, numpy as np, plain_kernels
from numba import cuda
kernel = cuda.jit(plain_kernels.matmul(tile={TILE}))
a, c = np.ones(({SIZE}, {SIZE}), np.float32), np.zeros(({SIZE}, {SIZE}), np.float32)
kernel[(1, 1), ({TILE}, {TILE})](a, a, c)
start = time.perf_counter()
kernel[({BLOCKS}, {BLOCKS}), ({TILE}, {TILE})](a, a, c)
print(time.perf_counter() - start)
"""


def best(function, repeats: int = 3) -> float:
    """Seconds of the fastest run after one that warms up."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def simulated() -> float:
    """Seconds that Numba's simulator takes for the plain matrix product."""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run(
        [sys.executable, "-c", SIMULATED], env=environment, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def main():
    import numpy as np
    import plain_kernels
    from emulated_kernels import attention, gemm, run_attention, run_gemm

    from playground.emulator import emulate

    measured = {
        "GEMM 128×256×512": best(lambda: run_gemm(gemm(), 128, 256, 512)),
        "GEMM 512×1024×1024": best(lambda: run_gemm(gemm(), 512, 1024, 1024), 1),
        "attention nt 512, hd 64": best(lambda: run_attention(attention(), 512)),
    }
    for name, seconds in measured.items():
        print(f"{name:32} {seconds:8.3f} s   (at most {FIGURES[name]} s)")
    a = np.ones((SIZE, SIZE), np.float32)
    kernel = plain_kernels.matmul(tile=TILE)
    ours = best(lambda: emulate(kernel, (BLOCKS, BLOCKS), (TILE, TILE), a, a, np.zeros_like(a)))
    simulator = simulated()
    name = f"plain matmul {SIZE}×{SIZE}×{SIZE}"
    print(f"{name:32} {ours:8.3f} s   simulator {simulator:.1f} s: {simulator / ours:.0f} times")


if __name__ == "__main__":
    main()
