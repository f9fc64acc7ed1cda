"""Kernels as closures over their parameters, the descriptions that they return, and pipelines of them."""

from playground.kernels.convert_gemm import convert_gemm
from playground.kernels.elementwise import add_bias, convert_f32_f16, embedding, rms_norm, rope, store_kv_f16, swiglu
from playground.kernels.fa_prefill import fa_prefill
from playground.kernels.gemm_f16_nt import gemm_f16_nt
from playground.kernels.kernel import Kernel, Step, pinned
from playground.kernels.pipeline import Pipeline

KERNELS = {
    "add_bias": add_bias,
    "convert_f32_f16": convert_f32_f16,
    "embedding": embedding,
    "fa_prefill": fa_prefill,
    "gemm_f16_nt": gemm_f16_nt,
    "rms_norm": rms_norm,
    "rope": rope,
    "store_kv_f16": store_kv_f16,
    "swiglu": swiglu,
}

__all__ = ["KERNELS", "Kernel", "Pipeline", "Step", "convert_gemm", "pinned", *KERNELS]
