"""fa_prefill: the ladder of attention kernels of the seeds, rung by rung, from composed pieces.

8n      fa_prefill(softmax="serial", pv="scalar")             P · V by scalar FMA
P5·0    fa_prefill(softmax="serial", pv="wmma")               P · V on tensor cores
P5·3a   fa_prefill(softmax="rows", pv="wmma")                 one warp per row of the softmax
P5·3    fa_prefill(softmax="rows", pv="wmma", pad=8)          rows of 272 bytes instead of 256
FAP1    fa_prefill(softmax="rows", pv="wmma", pad=8, TKV=32, s_pad=4)
FAP2    fa_prefill(softmax="registers", pv="wmma", pad=8, TKV=32)
"""

from playground.errors import Refusal
from playground.kernels.attention.contract import HEAD_DIMENSIONS, TQ, attention_contract
from playground.kernels.attention.fa_registers import fa_registers
from playground.kernels.attention.fa_shared import fa_shared
from playground.kernels.kernel import Kernel
from playground.kernels.parameters import check_choice, check_whole

CHOICES = {
    "softmax": ("serial", "rows", "registers"),
    "pv": ("scalar", "wmma"),
    "staging": ("async", "sync"),
}


def fa_prefill(
    hd: int = 128,
    TKV: int = 64,
    softmax: str = "registers",
    pv: str = "wmma",
    pad: int = 0,
    s_pad: int = 0,
    staging: str = "async",
    min_blocks: int = 1,
) -> Kernel:
    """Causal grouped-query attention for prefill: f32 q and o, f16 K and V, positions as data; see attention_contract.

    hd: head dimension, 64 or 128. TKV: keys per tile, 32 or 64. softmax: "serial", "rows" or "registers". pv: "scalar"
    or "wmma". pad: halves added to each row of Q, K and V in shared memory. s_pad: floats added to each row of S.
    staging: "async" (cp.async) or "sync" (for architectures before sm_80). min_blocks: blocks per SM that the compiler
    must leave registers for.
    """
    parameters = {
        "hd": hd, "TKV": TKV, "softmax": softmax, "pv": pv, "pad": pad, "s_pad": s_pad, "staging": staging,
        "min_blocks": min_blocks,
    }  # fmt: skip
    _check(parameters)
    if softmax == "registers":
        rung = fa_registers(hd, TKV, pad, staging)
    else:
        rung = fa_shared(hd, TKV, pad, s_pad, softmax, pv, staging)
    return Kernel(
        name="fa_prefill",
        parameters=parameters,
        contract=attention_contract(hd),
        function=rung.function,
        threads=rung.threads,
        grid=lambda nt, nh, nk, kv: (-(-nt // TQ), nh, 1),
        layout=rung.layout,
        minimum_cc=rung.minimum_cc,
        alignment={"K": 16, "V": 16, "O": 32},
        min_blocks=min_blocks,
        period={"nt": TQ, "nh": 1, "nk": 1, "kv": 64},
    )


def _check(parameters):
    for name, known in CHOICES.items():
        check_choice("fa_prefill", name, parameters[name], known)
    check_whole("fa_prefill", **{name: value for name, value in parameters.items() if name not in CHOICES})
    hd, TKV, pad, s_pad, min_blocks = (parameters[name] for name in ("hd", "TKV", "pad", "s_pad", "min_blocks"))
    if hd not in HEAD_DIMENSIONS:
        raise Refusal(f"fa_prefill: head dimension {hd} is not supported: {HEAD_DIMENSIONS} are")
    if TKV not in (32, 64):
        raise Refusal(f"fa_prefill: TKV = {TKV} is not 32 or 64")
    if pad < 0 or pad % 8:
        raise Refusal(f"fa_prefill: pad = {pad} is not a multiple of 8 halves (16 bytes, what cp.async aligns to)")
    if s_pad < 0 or s_pad % 4:
        raise Refusal(f"fa_prefill: s_pad = {s_pad} is not a multiple of 4 floats (16 bytes, what wmma aligns to)")
    if not 1 <= min_blocks <= 32:
        raise Refusal(f"fa_prefill: min_blocks = {min_blocks} is not between 1 and 32")
    if parameters["softmax"] == "registers" and (parameters["pv"], s_pad) != ("wmma", 0):
        raise Refusal("fa_prefill: softmax in registers leaves no S to pad, and multiplies by wmma")
