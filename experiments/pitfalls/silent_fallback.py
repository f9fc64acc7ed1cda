"""Shared memory over the limit: here a loud refusal. Caught in silence, the launch falls back to a slower kernel."""

from dataclasses import replace

from experiments.pitfalls._edit import Edit
from experiments.pitfalls._pitfall import LIMITS, Examination, Objection, Pitfall, raised_at
from experiments.pitfalls._wrong_kernel import emulated
from playground import Refusal
from playground.compiler.arch import arch_named
from playground.compiler.build import build, check_limits
from playground.kernels import Kernel, fa_prefill
from playground.kernels.layout import Region, SharedLayout
from playground.shapes import QWEN25_7B

GPU = "GB10"
EMULATED = {"nt": 64, "nh": 1, "nk": 1, "kv": 128}
LAUNCHED = QWEN25_7B.attention(nt=2048).dims

TWO_BUFFERS = Edit(
    module="playground.kernels.attention.fa_shared",
    right='Region("K", (TKV, hd + pad), HALF),\n        Region("V", (TKV, hd + pad), HALF),',
    wrong='Region("K", (2, TKV, hd + pad), HALF),\n        Region("V", (2, TKV, hd + pad), HALF),',
)


def wanted() -> Kernel:
    return fa_prefill(TKV=64, softmax="rows", pad=8)


def fallback() -> Kernel:
    return fa_prefill(TKV=64, softmax="serial", pv="scalar")


def refusals(kernel: Kernel) -> list[Objection]:
    """What the limits of the GPU have against a kernel."""
    try:
        check_limits(kernel, arch_named(GPU))
    except Refusal as refusal:
        return [Objection(LIMITS, str(refusal), raised_at(refusal))]
    return []


def examine() -> Examination:
    with TWO_BUFFERS.in_force():
        too_large = wanted()
    counts = [emulated(kernel, EMULATED)[1].counts.total() for kernel in (wanted(), fallback())]
    instructions, flop = ([found[name] for found in counts] for name in ("inst_executed", "mma_flop"))
    return Examination(
        wrong=refusals(too_large),
        right=refusals(wanted()),
        where=TWO_BUFFERS.where,
        diff=TWO_BUFFERS.diff(),
        notes=[
            f"the fallback executes {instructions[1] / instructions[0]:.1f} times the instructions,"
            f" and does {1 - flop[1] / flop[0]:.0%} of the FLOP without tensor cores"
        ],
    )


def on_gpu(name: str, device) -> dict:
    """What the driver says to a launch over the limit of this GPU, and the times of the kernel and of its fallback."""
    from experiments.pitfalls._times import compare, told
    from playground.gpu.driver import DriverError
    from playground.gpu.program import Program

    built = build(wanted(), device.arch)
    over = SharedLayout(Region("all", (device.arch.shared_per_block + 1,), 1))
    try:
        Program(replace(built, ledger=replace(built.ledger, dynamic_shared=over.bytes)), device)
        error = "the driver says nothing"
    except DriverError as refused:
        error = str(refused)
    found = compare(device, wanted(), fallback(), LAUNCHED)
    says = f"{over.bytes:,} bytes: {error}; the fallback takes {told(found)}"
    return {"dims": LAUNCHED, "driver": error, **found, "says": says}


pitfall = Pitfall(
    mistake="two buffers for K and V need more shared memory than the GPU has, and the launcher takes an older kernel",
    source='seed 000, §3.3: "silently fell back to the legacy path and the whole machine dropped to 313 tok/s"',
    gate=LIMITS,
    examine=examine,
    on_gpu=on_gpu,
)

if __name__ == "__main__":
    pitfall.main()
