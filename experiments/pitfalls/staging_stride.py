"""Half the threads, and the staging stride of before: 128 threads step by 256, and half of each tile is missing."""

from experiments.pitfalls._edit import Edit
from experiments.pitfalls._pitfall import HAZARD
from experiments.pitfalls._wrong_kernel import WrongKernel
from playground.kernels import fa_prefill

pair = WrongKernel(
    compose=lambda: fa_prefill(TKV=32, softmax="registers", pad=8),
    edit=Edit(
        module="playground.kernels.attention.fa_registers",
        right="copies = STAGING[staging](TKV, hd, ROW, threads)",
        wrong="copies = STAGING[staging](TKV, hd, ROW, 256)",
    ),
    emulated={"nt": 64, "nh": 1, "nk": 1, "kv": 96},
    launched={"nt": 512, "nh": 28, "nk": 4, "kv": 512},
)

pitfall = pair.pitfall(
    mistake="128 threads stage K and V in turns that are 256 chunks apart, as when there were 256 threads",
    source='seed 001, §3.3: "moves only half of each K/V tile and the other half is uninitialized smem"',
    gate=HAZARD,
)

if __name__ == "__main__":
    pitfall.main()
