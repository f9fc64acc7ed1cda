"""Which kernel variant each pass of the decoder uses, and the campaign as a row of such choices."""

import dataclasses
from dataclasses import dataclass, field, fields
from functools import partial

from playground.errors import Refusal
from playground.kernels import (
    Kernel,
    add_bias,
    convert_f32_f16,
    embedding,
    fa_prefill,
    gemm_f16_nt,
    rms_norm,
    rope,
    store_kv_f16,
    swiglu,
)
from playground.kernels.gemm_f16_nt import GEMM_AF32_NT


@dataclass(frozen=True)
class Configuration:
    """One kernel per kind of pass. add_bias also adds the residuals, each a bias of one long row.

    gemm_af32: a GEMM that rounds f32 activations itself; None: a convert pass rounds them, and `gemm` takes them.
    """

    name: str
    gemm: Kernel
    attention: Kernel
    convert: Kernel
    store_kv: Kernel
    swiglu: Kernel
    rope: Kernel
    rms_norm: Kernel = field(default_factory=partial(rms_norm, "f16"))
    add_bias: Kernel = field(default_factory=add_bias)
    embedding: Kernel = field(default_factory=embedding)
    gemm_af32: Kernel | None = None

    @property
    def kernels(self) -> dict[str, Kernel]:
        """By kind of pass."""
        every = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "name"}
        return {kind: kernel for kind, kernel in every.items() if kernel}

    @property
    def contracts(self) -> dict[str, str]:
        """What a kernel must compute for each kind of pass: the name of its contract."""
        return {kind: kernel.contract.name for kind, kernel in self.kernels.items()} | {"gemm_af32": GEMM_AF32_NT.name}

    def replace(self, name: str | None = None, **kernels: Kernel) -> "Configuration":
        """The same with other kernels for some kinds of pass, each of the contract that the pass has."""
        for kind, kernel in kernels.items():
            if kind not in self.contracts:
                raise Refusal(f"no pass {kind!r}: a configuration has {', '.join(self.contracts)}")
            if kernel.contract.name != self.contracts[kind]:
                wanted = self.contracts[kind]
                raise Refusal(f"{kernel} computes {kernel.contract.name}, the pass {kind} needs {wanted}")
        return dataclasses.replace(self, name=name or self.name, **kernels)

    def kind_of(self, kernel: Kernel) -> str:
        """The kind of pass that the kernel could be swapped into."""
        for kind, contract in self.contracts.items():
            if contract == kernel.contract.name:
                return kind
        raise Refusal(f"{kernel} computes {kernel.contract.name}, which is no pass of the prefill")


def campaign(hd: int = 128) -> tuple[Configuration, ...]:
    """The source's steps in their order, each with all before it, then our own; hd: the model's head dimension.

    8p: where the session of seed 000 began. P5·0 to P5·3: as its commits follow one another, P5·3 in its two cuts.
    FAP2: seed 001. padded: rows of the GEMM's tiles padded, which lets KS=64 pay, and swiglu vectorised.
    """
    start = Configuration(
        "8p",
        gemm=gemm_f16_nt(TM=64, KS=32),
        attention=fa_prefill(hd=hd, softmax="serial", pv="scalar"),
        convert=convert_f32_f16(per_lane=1),
        store_kv=store_kv_f16(per_lane=1),
        swiglu=swiglu(per_lane=1),
        rope=rope(hd),
    )
    steps = {
        "P5·0": {"attention": fa_prefill(hd=hd, softmax="serial", pv="wmma")},
        "P5·1": {"convert": convert_f32_f16(per_lane=8), "store_kv": store_kv_f16(per_lane=4)},
        "P5·2": {"gemm": gemm_f16_nt(TM=128, KS=32)},
        "P5·3a": {"attention": fa_prefill(hd=hd, softmax="rows", pv="wmma")},
        "P5·3": {"attention": fa_prefill(hd=hd, softmax="rows", pv="wmma", pad=8)},
        "FAP2": {"attention": fa_prefill(hd=hd, softmax="registers", TKV=32, pad=8)},
        "padded": {"gemm": gemm_f16_nt(TM=128, KS=64, pad=8), "swiglu": swiglu(per_lane=4)},
    }
    rungs = [start]
    for name, kernels in steps.items():
        rungs.append(rungs[-1].replace(name, **kernels))
    return tuple(rungs)


CONFIGURATIONS = campaign()
