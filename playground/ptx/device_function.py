"""Functions that kernels are composed of."""

from numba import cuda

# Inlined whole, so that local arrays passed by reference stay in registers; lines stay those of the callee's file.
device_function = cuda.jit(device=True, forceinline=True, lineinfo=True)
