"""No barrier at the end of the loop: the next tile's V may arrive while a slower warp still reads this one's."""

from experiments.pitfalls._edit import Edit
from experiments.pitfalls._pitfall import HAZARD
from experiments.pitfalls._wrong_kernel import WrongKernel
from playground.kernels import fa_prefill

pair = WrongKernel(
    compose=lambda: fa_prefill(TKV=32, softmax="registers", pad=8),
    edit=Edit(
        module="playground.kernels.attention.fa_registers",
        right="accumulate(fc, shared + V_OFFSET, acc)\n            cuda.syncthreads()",
        wrong="accumulate(fc, shared + V_OFFSET, acc)\n            pass",
    ),
    emulated={"nt": 64, "nh": 1, "nk": 1, "kv": 96},
    launched={"nt": 512, "nh": 28, "nk": 4, "kv": 512},
)

pitfall = pair.pitfall(
    mistake="no barrier between the last read of V and the staging of the next V: right result, wrong program",
    source='seed 001, §2: of 4 barriers per tile 3 are left, since one "now has no readers"; this one has',
    gate=HAZARD,
)

if __name__ == "__main__":
    pitfall.main()
