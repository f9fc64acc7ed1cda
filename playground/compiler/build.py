"""build: Kernel × architecture -> PTX, cubin and ledger, kept on disk by content. Needs no GPU."""

import base64
import re
from dataclasses import dataclass, replace

from cuda.pathfinder import DynamicLibNotFoundError

from playground.compiler import cache, ledger, sass
from playground.compiler.arch import THREADS_PER_BLOCK, Arch
from playground.compiler.ledger import Ledger
from playground.errors import Refusal
from playground.kernels.kernel import Kernel
from playground.kernels.pipeline import Pipeline


@dataclass(frozen=True)
class Build:
    """A kernel compiled for one architecture. `entry`: the name of its entry point."""

    kernel: Kernel
    arch: Arch
    ptx: str
    cubin: bytes
    entry: str
    ledger: Ledger

    @property
    def steps(self) -> "tuple[Build]":
        """As of a pipeline of one."""
        return (self,)

    @property
    def dynamic_shared(self) -> int:
        """Bytes to launch with: those of the kernel's layout, or more where its blocks per SM are pinned."""
        return self.ledger.dynamic_shared

    @property
    def toolkit(self) -> str:
        """The version of the CUDA compiler that wrote the PTX, as it signs it: V13.0.88."""
        signed = re.search(r"Cuda compilation tools, release [\d.]+, (V[\d.]+)", self.ptx)
        return signed.group(1) if signed else "unknown"


@dataclass(frozen=True)
class PipelineBuild:
    """The builds of a pipeline's steps, in order."""

    kernel: Pipeline
    steps: tuple[Build, ...]

    @property
    def arch(self) -> Arch:
        return self.steps[0].arch

    @property
    def ptx(self) -> str:
        """Of all steps, one after another."""
        return "\n".join(step.ptx for step in self.steps)

    @property
    def toolkit(self) -> str:
        return self.steps[0].toolkit


def build(kernel: Kernel | Pipeline, arch: Arch) -> Build | PipelineBuild:
    """Compile `kernel`, or every step of it, for `arch`, or take the builds from the cache.

    Refuses what the architecture cannot hold, with the requirement and the limit.
    """
    if isinstance(kernel, Pipeline):
        return PipelineBuild(kernel, tuple(build(step.kernel, arch) for step in kernel.steps))
    check_limits(kernel, arch)
    label = str(replace(kernel, blocks_per_sm=None))  # a pin is of the launch: the machine code is the same
    digest = cache.key(kernel.function, label, kernel.threads, kernel.min_blocks, kernel.layout.bytes, arch)
    entry = cache.load(digest)
    if entry is None:
        entry = cache.store(digest, _compile(kernel, arch))
    cubin = base64.b64decode(entry["cubin"])
    return Build(
        kernel=kernel,
        arch=arch,
        ptx=entry["ptx"],
        cubin=cubin,
        entry=kernel.name,
        ledger=ledger.read(kernel, arch, entry["ptx"], entry["log"], entry["mix"] or sass.instruction_mix(cubin)),
    )


def check_limits(kernel: Kernel, arch: Arch) -> None:
    """Refuse a kernel whose instructions, threads or shared memory the architecture does not have."""
    if arch.cc < kernel.minimum_cc:
        needed = "sm_{}{}".format(*kernel.minimum_cc)
        raise Refusal(f"{kernel} needs {needed} or later: {arch.name} lacks its instructions")
    if kernel.threads > THREADS_PER_BLOCK:
        raise Refusal(f"{kernel} has {kernel.threads} threads per block: {arch.name} takes {THREADS_PER_BLOCK}")
    if kernel.layout.bytes > arch.shared_per_block:
        raise Refusal(
            f"{kernel} needs {kernel.layout.bytes:,} bytes of shared memory per block:"
            f" {arch.name} has {arch.shared_per_block:,}"
        )


def _compile(kernel: Kernel, arch: Arch) -> dict:
    from playground.compiler import numba_ptx, nvjitlink  # late: a cached build needs neither, and they take a second

    signature = numba_ptx.address_signature(len(kernel.contract.tensors), len(kernel.contract.dimensions))
    try:
        ptx = numba_ptx.to_ptx(kernel.function, signature, arch.cc, kernel.threads, kernel.min_blocks)
    except DynamicLibNotFoundError as error:
        raise Refusal(f"no CUDA compiler (install the extra cu13 or cu12): {str(error).splitlines()[0]}") from error
    mangled = re.search(r"\.entry\s+([\w$]+)", ptx).group(1)
    ptx = ptx.replace(mangled, kernel.name)
    cubin, log = nvjitlink.link(ptx, arch.name)
    return {"ptx": ptx, "cubin": base64.b64encode(cubin).decode(), "log": log, "mix": sass.instruction_mix(cubin)}
