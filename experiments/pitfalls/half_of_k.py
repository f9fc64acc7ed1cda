"""Only the first 16 k's of each 32 accumulate: the second half of every k-step is staged and never multiplied."""

from experiments.pitfalls._edit import Edit
from experiments.pitfalls._pitfall import PARITY
from experiments.pitfalls._wrong_kernel import WrongKernel
from playground.kernels import gemm_f16_nt

pair = WrongKernel(
    compose=lambda: gemm_f16_nt(TM=128, KS=32),
    edit=Edit(
        module="playground.kernels.gemm_f16_nt",
        right="for k in range(KS // FRAGMENT):",
        wrong="for k in range(0, KS // FRAGMENT, 2):",
    ),
    emulated={"nt": 64, "od": 128, "id": 128},
    launched={"nt": 1024, "od": 1024, "id": 1024},
)

pitfall = pair.pitfall(
    mistake="of each 32 k's only the first 16 are multiplied",
    source='seed 000, §3.2: "the v1 bug: only the first 16 k\'s were multiplied"',
    gate=PARITY,
)

if __name__ == "__main__":
    pitfall.main()
