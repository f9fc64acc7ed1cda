"""fb[1] offset by 16 rows instead of 16 elements: the second half of a k-step multiplies other columns of C."""

from experiments.pitfalls._edit import Edit
from experiments.pitfalls._pitfall import PARITY
from experiments.pitfalls._wrong_kernel import WrongKernel
from playground.kernels import gemm_f16_nt

pair = WrongKernel(
    compose=lambda: gemm_f16_nt(TM=128, KS=32),
    edit=Edit(
        module="playground.kernels.gemm_f16_nt",
        right="wmma.load_b_col(fb, Bs + oc * FRAGMENT * row_bytes + k * FRAGMENT * HALF, stride)",
        wrong="wmma.load_b_col(fb, Bs + oc * FRAGMENT * row_bytes + k * FRAGMENT * row_bytes, stride)",
    ),
    emulated={"nt": 64, "od": 128, "id": 128},
    launched={"nt": 1024, "od": 1024, "id": 1024},
)

pitfall = pair.pitfall(
    mistake="the B fragment of the second 16 k's is loaded 16 rows further down, not 16 elements further along k",
    source='seed 000, §3.3: "the GEMM result was flat-out wrong"; its parity test "caught it on the spot"',
    gate=PARITY,
)

if __name__ == "__main__":
    pitfall.main()
