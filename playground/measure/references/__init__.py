"""What each contract should compute, in float64 on the CPU, and how far from it a correct kernel may be."""

from playground.measure.references.add_bias import add_bias
from playground.measure.references.attention import attention
from playground.measure.references.convert_f32_f16 import convert_f32_f16
from playground.measure.references.embedding import embedding
from playground.measure.references.expected import Expected
from playground.measure.references.gemm import gemm_af32_nt, gemm_nt
from playground.measure.references.rms_norm import rms_norm, rms_norm_f16
from playground.measure.references.rope import rope
from playground.measure.references.store_kv_f16 import store_kv_f16
from playground.measure.references.swiglu import swiglu

REFERENCES = {
    "add_bias": add_bias,
    "attention_hd64": attention,
    "attention_hd128": attention,
    "convert_f32_f16": convert_f32_f16,
    "embedding": embedding,
    "gemm_af32_nt": gemm_af32_nt,
    "gemm_nt": gemm_nt,
    "rms_norm_f32": rms_norm,
    "rms_norm_f16": rms_norm_f16,
    "rope_hd64": rope,
    "rope_hd128": rope,
    "store_kv_f16": store_kv_f16,
    "swiglu": swiglu,
}

__all__ = ["REFERENCES", "Expected"]
