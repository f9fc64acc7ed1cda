"""What each contract should compute, in float64 on the CPU, and how far from it a correct kernel may be."""

from playground.measure.references.attention import attention
from playground.measure.references.expected import Expected
from playground.measure.references.gemm import gemm_nt

REFERENCES = {"gemm_nt": gemm_nt, "attention_hd64": attention, "attention_hd128": attention}

__all__ = ["REFERENCES", "Expected"]
