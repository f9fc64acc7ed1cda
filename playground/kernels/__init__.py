"""Kernels as closures over their parameters, and Kernel, the description that they return."""

from playground.kernels.gemm_f16_nt import gemm_f16_nt
from playground.kernels.kernel import Kernel

KERNELS = {"gemm_f16_nt": gemm_f16_nt}

__all__ = ["KERNELS", "Kernel", "gemm_f16_nt"]
