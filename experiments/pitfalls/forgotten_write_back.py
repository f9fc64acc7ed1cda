"""The last rows' way out left out of the launcher's maximum: with smaller tiles O reaches beyond Q, K and V."""

from dataclasses import replace

from experiments.pitfalls._edit import Edit
from experiments.pitfalls._pitfall import HAZARD
from experiments.pitfalls._wrong_kernel import WrongKernel
from playground.kernels import Kernel, fa_prefill
from playground.kernels.attention.fa_registers import fa_registers

TKV = 16  # smaller than fa_prefill offers: O is 32 KB, and Q, K and V are 26,112 bytes


def composed() -> Kernel:
    rung = fa_registers(hd=128, TKV=TKV, pad=8, staging="async")
    offered = fa_prefill(TKV=32, softmax="registers", pad=8)
    return replace(offered, function=rung.function, layout=rung.layout, parameters={**offered.parameters, "TKV": TKV})


pair = WrongKernel(
    compose=composed,
    edit=Edit(
        module="playground.kernels.layout",
        right="self.bytes = max(self.bytes, offset + -(-region.bytes // ALIGNMENT) * ALIGNMENT)",
        wrong="self.bytes += 0 if region.reuses else -(-region.bytes // ALIGNMENT) * ALIGNMENT",
    ),
    emulated={"nt": 63, "nh": 1, "nk": 1, "kv": 96},
    launched={"nt": 511, "nh": 28, "nk": 4, "kv": 512},
)

pitfall = pair.pitfall(
    mistake="O is written back through the place of Q, K and V, and the launcher counts only those",
    source="seed 001, §5: O's write-back region \"must be counted in the launcher's max\" (r50)",
    gate=HAZARD,
)

if __name__ == "__main__":
    pitfall.main()
