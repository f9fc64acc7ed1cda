"""Kernels that touch every element once: what limits them is memory, so their speed is told in GB/s."""

from playground.kernels.elementwise.add_bias import add_bias
from playground.kernels.elementwise.convert_f32_f16 import convert_f32_f16
from playground.kernels.elementwise.embedding import embedding
from playground.kernels.elementwise.rms_norm import rms_norm
from playground.kernels.elementwise.rope import rope
from playground.kernels.elementwise.store_kv_f16 import store_kv_f16
from playground.kernels.elementwise.swiglu import swiglu

__all__ = ["add_bias", "convert_f32_f16", "embedding", "rms_norm", "rope", "store_kv_f16", "swiglu"]
