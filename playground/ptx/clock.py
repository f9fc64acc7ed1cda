"""When and where a thread runs. PTX ISA, "Special Registers: %clock64, %globaltimer, %smid".

No read of a clock is moved over another statement that touches memory, or over a barrier.
"""

from numba.cuda import types

from playground.ptx._instruction import instruction

int64 = types.int64


@instruction("mov.u64 {result}, %clock64;")
def cycles() -> int64:
    """The SM's cycle counter. PTX ISA: %clock64."""


@instruction("mov.u64 {result}, %globaltimer;")
def nanoseconds() -> int64:
    """The GPU's timer, the same on all SMs; it advances in steps of up to a microsecond. PTX ISA: %globaltimer."""


@instruction("{{ .reg .u32 %number; mov.u32 %number, %smid; cvt.u64.u32 {result}, %number; }}")
def multiprocessor() -> int64:
    """The number of the SM that the thread is on. PTX ISA: %smid."""
