"""Both B operands row_major: V is one, but K stored [key][hd] is a column-major B, and Q · K comes out for Q · Kᵀ."""

from experiments.pitfalls._edit import Edit
from experiments.pitfalls._pitfall import PARITY
from experiments.pitfalls._wrong_kernel import WrongKernel
from playground.kernels import fa_prefill

pair = WrongKernel(
    compose=lambda: fa_prefill(TKV=32, softmax="registers", pad=8),
    edit=Edit(
        module="playground.kernels.attention.products",
        right="""\
                wmma.load_b_col(fb, Ks + c * FRAGMENT * row_bytes + d * FRAGMENT * HALF, stride)
                wmma.mma_row_col(fc[c], fa, fb)""",
        wrong="""\
                wmma.load_b_row(fb, Ks + c * FRAGMENT * row_bytes + d * FRAGMENT * HALF, stride)
                wmma.mma_row_row(fc[c], fa, fb)""",
    ),
    emulated={"nt": 64, "nh": 1, "nk": 1, "kv": 96},
    launched={"nt": 512, "nh": 28, "nk": 4, "kv": 512},
)

pitfall = pair.pitfall(
    mistake="K is read as a row-major B, as V rightly is: within each 16×16 tile Q · K for Q · Kᵀ",
    source='seed 001, §2: "the parity max err blew up from the 1e-4 class to 0.54"; the kernel "runs"',
    gate=PARITY,
)

if __name__ == "__main__":
    pitfall.main()
