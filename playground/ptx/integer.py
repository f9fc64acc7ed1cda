"""Unsigned 32-bit division, which Numba's `//` and `%` on int32 are not.

Those widen to 64 bit and round towards minus infinity: by a runtime value that is a call, and by a power of two still a
sign correction beside the shift.
"""

from numba.cuda import types
from numba.cuda.extending import intrinsic

uint32 = types.uint32


@intrinsic
def udiv(typing_context, dividend, divisor):
    """Quotient of two unsigned 32-bit integers. PTX ISA: div.u32."""
    return uint32(uint32, uint32), lambda context, builder, signature, values: builder.udiv(*values)


@intrinsic
def urem(typing_context, dividend, divisor):
    """Remainder of two unsigned 32-bit integers. PTX ISA: rem.u32."""
    return uint32(uint32, uint32), lambda context, builder, signature, values: builder.urem(*values)
