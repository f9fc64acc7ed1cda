"""Masks for contiguous columns on a fragment whose columns are scattered: a lane masks keys that are not its own."""

from experiments.pitfalls._edit import Edit
from experiments.pitfalls._pitfall import PARITY
from experiments.pitfalls._wrong_kernel import WrongKernel
from playground.kernels import fa_prefill

pair = WrongKernel(
    compose=lambda: fa_prefill(TKV=32, softmax="registers", pad=8),
    edit=Edit(
        module="playground.kernels.attention.softmax_registers",
        right="key = first_key + fragment * FRAGMENT + column_of(lane, element)",
        wrong="key = first_key + fragment * FRAGMENT + 4 * (lane & 3) + (element & 1) + 2 * (element >> 2)",
        occurrences=2,
    ),
    emulated={"nt": 64, "nh": 1, "nk": 1, "kv": 96},
    launched={"nt": 512, "nh": 28, "nk": 4, "kv": 512},
)

pitfall = pair.pitfall(
    mistake="the causal mask takes a lane's columns for 4l to 4l+3, and they are 2l, 2l+1, 2l+8, 2l+9",
    source='seed 001, §3.3: the columns "are scattered", so that the mask "must be evaluated element by element"',
    gate=PARITY,
)

if __name__ == "__main__":
    pitfall.main()
