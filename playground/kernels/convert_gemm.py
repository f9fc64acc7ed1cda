"""The GEMM of an f32 A as the source landed it: a pass that rounds A to f16, then the GEMM on what that left.

Source: seed 000, §3.2 (P5·1) and §5, in whose budget convert is a pass of its own before each GEMM.
"""

from playground.kernels.contract import Tensor
from playground.kernels.elementwise.convert_f32_f16 import convert_f32_f16
from playground.kernels.gemm_f16_nt import GEMM_AF32_NT, gemm_f16_nt
from playground.kernels.kernel import Step
from playground.kernels.pipeline import Pipeline


def convert_gemm(per_lane: int = 8, **gemm) -> Pipeline:
    """C[nt, od] f32 = f16(A[nt, id] f32) · B[od, id]ᵀ f16, in two launches; nt · id < 2^31.

    per_lane: of convert_f32_f16. gemm: the parameters of gemm_f16_nt.
    """
    return Pipeline(
        contract=GEMM_AF32_NT,
        steps=(
            Step(convert_f32_f16(per_lane), {"x": "A", "y": "A16"}, lambda nt, od, id: {"n": nt * id}),
            Step(gemm_f16_nt(**gemm), {"A": "A16"}),
        ),
        temporaries=(Tensor("A16", "float16", ("nt", "id")),),
    )
