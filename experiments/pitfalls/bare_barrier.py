"""cp.async with a bare barrier: __syncthreads orders ordinary accesses, and not copies that are under way."""

from experiments.pitfalls._edit import Edit
from experiments.pitfalls._pitfall import HAZARD
from experiments.pitfalls._wrong_kernel import WrongKernel
from playground.kernels import fa_prefill

pair = WrongKernel(
    compose=lambda: fa_prefill(TKV=64, softmax="rows", pad=8),
    edit=Edit(
        module="playground.kernels.staging",
        right="Staging(stage, cp_async.commit, _wait_1, _wait_0, pack_f16x2, minimum_cc=(8, 0))",
        wrong="Staging(stage, _nothing, _nothing, _nothing, pack_f16x2, minimum_cc=(8, 0))",
    ),
    emulated={"nt": 64, "nh": 1, "nk": 1, "kv": 128},
    launched={"nt": 512, "nh": 28, "nk": 4, "kv": 512},
)

pitfall = pair.pitfall(
    mistake="commit_group and wait_group are gone, and __syncthreads alone waits for cp.async",
    source='seed 000, §3.3: "async copies are not constrained by the barrier, and parity came out at 0.28"',
    gate=HAZARD,
)

if __name__ == "__main__":
    pitfall.main()
