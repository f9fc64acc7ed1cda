"""fa_prefill: the ladder of attention kernels of the seeds, rung by rung, from composed pieces.

8n      fa_prefill(softmax="serial", pv="scalar")             P · V by scalar FMA
P5·0    fa_prefill(softmax="serial", pv="wmma")               P · V on tensor cores
P5·3a   fa_prefill(softmax="rows", pv="wmma")                 one warp per row of the softmax
P5·3    fa_prefill(softmax="rows", pv="wmma", pad=8)          rows of 272 bytes instead of 256
FAP1    fa_prefill(softmax="rows", pv="wmma", pad=8, TKV=32, s_pad=4)
FAP2    fa_prefill(softmax="registers", pv="wmma", pad=8, TKV=32)
"""

from playground.errors import Refusal
from playground.kernels.attention.contract import HEAD_DIMENSIONS
from playground.kernels.attention.fa_registers import fa_registers
from playground.kernels.attention.fa_shared import fa_shared
from playground.kernels.kernel import Kernel

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
) -> Kernel:
    """Causal grouped-query attention for prefill: f32 q and o, f16 K and V, positions as data; see attention_contract.

    hd: head dimension, 64 or 128. TKV: keys per tile, 32 or 64. softmax: "serial", "rows" or "registers". pv: "scalar"
    or "wmma". pad: halves added to each row of Q, K and V in shared memory. s_pad: floats added to each row of S.
    staging: "async" (cp.async) or "sync" (for architectures before sm_80).
    """
    parameters = {
        "hd": hd, "TKV": TKV, "softmax": softmax, "pv": pv, "pad": pad, "s_pad": s_pad, "staging": staging,
    }  # fmt: skip
    _check(parameters)
    if softmax == "registers":
        return fa_registers(hd, TKV, pad, "fa_prefill", parameters)
    return fa_shared(hd, TKV, pad, s_pad, softmax, pv, staging, "fa_prefill", parameters)


def _check(parameters):
    for name, known in CHOICES.items():
        if parameters[name] not in known:
            raise Refusal(f"fa_prefill: {name} = {parameters[name]!r} is not one of {', '.join(known)}")
    hd, TKV, pad, s_pad = (parameters[name] for name in ("hd", "TKV", "pad", "s_pad"))
    if hd not in HEAD_DIMENSIONS:
        raise Refusal(f"fa_prefill: head dimension {hd} is not supported: {HEAD_DIMENSIONS} are")
    if TKV not in (32, 64):
        raise Refusal(f"fa_prefill: TKV = {TKV} is not 32 or 64")
    if pad < 0 or pad % 8:
        raise Refusal(f"fa_prefill: pad = {pad} is not a multiple of 8 halves (16 bytes, what cp.async aligns to)")
    if s_pad < 0 or s_pad % 4:
        raise Refusal(f"fa_prefill: s_pad = {s_pad} is not a multiple of 4 floats (16 bytes, what wmma aligns to)")
    if parameters["softmax"] == "registers" and (parameters["pv"], s_pad, parameters["staging"]) != (
        "wmma",
        0,
        "async",
    ):
        raise Refusal("fa_prefill: softmax in registers leaves no S to pad, multiplies by wmma and stages by cp.async")
