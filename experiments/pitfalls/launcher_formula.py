"""A launcher's formula of 3·FA_TQ rows, after the geometry became FA_TQ + 2·FA_TKV: fewer blocks fit, nothing fails."""

from dataclasses import replace

from experiments.pitfalls._pitfall import LEDGER, Examination, Objection, Pitfall, place_of
from playground.compiler.arch import arch_named, residency
from playground.compiler.build import build
from playground.kernels import Kernel, fa_prefill
from playground.kernels.attention.contract import TQ
from playground.kernels.layout import Region, SharedLayout
from playground.shapes import QWEN25_7B

GPUS = ("GB10", "H200")
HALF, HD, PAD = 2, 128, 8
LAUNCHED = QWEN25_7B.attention(nt=2048).dims


def composed() -> Kernel:
    return fa_prefill(hd=HD, TKV=32, softmax="registers", pad=PAD)


def launched_by_formula(kernel: Kernel) -> Kernel:
    """What the launcher asked for while FA_TKV was 64, like FA_TQ."""
    asked = SharedLayout(Region("Q, K, V", (3 * TQ, HD + PAD), HALF))
    return replace(kernel, layout=asked, parameters={**kernel.parameters, "mistake": "3·FA_TQ rows"})


def resident(kernel: Kernel, gpu: str) -> int:
    """Blocks per SM of a launch that asks for what `kernel` says; its code is that of the composed one."""
    ledger = build(composed(), arch_named(gpu)).ledger
    return residency(arch_named(gpu), ledger.threads, ledger.registers, kernel.layout.bytes).blocks


def objections(kernel: Kernel) -> list[Objection]:
    """The ledger objects to a launch that leaves room for fewer blocks than the kernel's own layout."""
    needed = composed()
    pairs = {gpu: (resident(needed, gpu), resident(kernel, gpu)) for gpu in GPUS}
    if not any(after < before for before, after in pairs.values()):
        return []
    told = ", ".join(f"{before} → {after} blocks/SM on {gpu}" for gpu, (before, after) in pairs.items())
    says = f"{kernel.layout.bytes:,} bytes per block for a layout of {needed.layout.bytes:,}: {told}"
    return [Objection(LEDGER, says, place_of(launched_by_formula))]


def examine() -> Examination:
    return Examination(
        wrong=objections(launched_by_formula(composed())),
        right=objections(composed()),
        where=place_of(launched_by_formula),
    )


def on_gpu(name: str, device) -> dict:
    """Blocks per SM as the driver computes them, and the times of both launches."""
    from experiments.pitfalls._times import compare, told
    from playground.gpu.program import Program

    right, wrong = composed(), launched_by_formula(composed())
    blocks = [Program(build(kernel, device.arch), device).resident_blocks() for kernel in (right, wrong)]
    found = compare(device, right, wrong, LAUNCHED)
    says = f"{blocks[0]} → {blocks[1]} blocks/SM by the driver, {told(found)}"
    return {"dims": LAUNCHED, "blocks_per_sm": blocks, **found, "says": says}


pitfall = Pitfall(
    mistake="the launcher asks for 3·FA_TQ rows, which was right while FA_TKV was as large as FA_TQ",
    source='seed 001, §1 and §3.2: r46\'s "launcher over-allocation fix", "the r46 launcher\'s 3*FA_TQ bug"',
    gate=LEDGER,
    examine=examine,
    on_gpu=on_gpu,
)

if __name__ == "__main__":
    pitfall.main()
