"""Kernels as closures over their parameters, and Kernel, the description that they return."""

from playground.kernels.fa_prefill import fa_prefill
from playground.kernels.gemm_f16_nt import gemm_f16_nt
from playground.kernels.kernel import Kernel

KERNELS = {"fa_prefill": fa_prefill, "gemm_f16_nt": gemm_f16_nt}

__all__ = ["KERNELS", "Kernel", "fa_prefill", "gemm_f16_nt"]
