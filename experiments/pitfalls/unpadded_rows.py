"""Rows of 256 bytes: all eight rows of a matrix lie in the same banks. The result is right, a load takes 8 trips."""

from experiments.pitfalls._pitfall import COUNTS, Pitfall
from experiments.pitfalls._wrong_kernel import WrongKernel
from playground.kernels import Kernel, fa_prefill
from playground.shapes import QWEN25_7B

TIMED = QWEN25_7B.attention(nt=2048).dims


def padded() -> Kernel:
    return fa_prefill(TKV=32, softmax="registers", pad=8)


def unpadded(kernel: Kernel) -> Kernel:
    return fa_prefill(**{**kernel.parameters, "pad": 0})


pair = WrongKernel(
    compose=padded,
    spoil=unpadded,
    emulated={"nt": 64, "nh": 1, "nk": 1, "kv": 96},
    launched={"nt": 512, "nh": 28, "nk": 4, "kv": 512},
)


def on_gpu(name: str, device) -> dict:
    """How many launches are wrong (none should be), and the times of both."""
    from experiments.pitfalls._times import compare, told

    launched = pair.on_gpu(name, device)
    found = compare(device, padded(), unpadded(padded()), TIMED)
    return {**launched, "timed": TIMED, **found, "says": f"{told(found)}; {launched['says']}"}


pitfall = Pitfall(
    mistake="the rows of Q, K and V are 256 bytes apart, a multiple of all 32 banks",
    source='seed 000, §2.2: "all 8 rows of every ldmatrix land in the same bank group → 8-way conflict"',
    gate=COUNTS,
    examine=pair.examine,
    on_gpu=on_gpu,
    launch=pair.launch,
)

if __name__ == "__main__":
    pitfall.main()
