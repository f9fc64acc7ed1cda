"""Addresses of shared memory, and plain loads and stores by address.

PTX ISA, "State Spaces: Shared State Space" and "Data Movement and Conversion Instructions: ld, st". Addresses in shared
memory are 32-bit offsets into the block's window, addresses in global memory 64-bit pointers.
"""

from llvmlite import ir
from numba.cuda import types
from numba.cuda.extending import intrinsic

from playground.ptx._instruction import Fragment, instruction

float32, int32, int64 = types.float32, types.int32, types.int64
uint16, uint32 = types.uint16, types.uint32


@intrinsic
def shared_address(typing_context, array):
    """The shared-window address (uint32) of a `cuda.shared.array`. PTX ISA: cvta.to.shared."""

    def emit(context, builder, signature, values):
        data = context.make_array(signature.args[0])(context, builder, values[0]).data
        shared_space = ir.PointerType(data.type.pointee, addrspace=3)
        return builder.ptrtoint(builder.addrspacecast(data, shared_space), ir.IntType(32))

    return uint32(array), emit


@instruction("ld.shared.f32 {result}, [{address}];")
def load_shared_f32(address: uint32) -> float32:
    """PTX ISA: ld."""


@instruction("ld.shared.u32 {result}, [{address}];")
def load_shared_u32(address: uint32) -> uint32:
    """PTX ISA: ld."""


@instruction("ld.shared.v4.u32 {words}, [{address}];")
def load_shared_v4(words: Fragment(uint32, 4, written=True), address: uint32):
    """Load 16 bytes from an address aligned to 16. PTX ISA: ld."""


@instruction("st.global.f32 [{address}], {value};")
def store_global_f32(address: int64, value: float32):
    """PTX ISA: st."""


@instruction("ld.global.f32 {result}, [{address}];")
def load_global_f32(address: int64) -> float32:
    """PTX ISA: ld."""


@instruction("st.shared.f32 [{address}], {value};")
def store_shared_f32(address: uint32, value: float32):
    """PTX ISA: st."""


@instruction("ld.shared.u16 {result}, [{address}];")
def load_shared_u16(address: uint32) -> uint16:
    """PTX ISA: ld."""


@instruction("st.shared.u16 [{address}], {value};")
def store_shared_u16(address: uint32, value: uint16):
    """PTX ISA: st."""


@instruction("st.shared.u32 [{address}], {value};")
def store_shared_u32(address: uint32, value: uint32):
    """PTX ISA: st."""


@instruction("ld.global.s32 {result}, [{address}];")
def load_global_s32(address: int64) -> int32:
    """PTX ISA: ld."""


@instruction("ld.global.u16 {result}, [{address}];")
def load_global_u16(address: int64) -> uint16:
    """PTX ISA: ld."""


@instruction("ld.global.v4.u32 {words}, [{address}];")
def load_global_v4(words: Fragment(uint32, 4, written=True), address: int64):
    """Load 16 bytes from an address aligned to 16. PTX ISA: ld."""


@instruction("ld.global.u32 {result}, [{address}];")
def load_global_u32(address: int64) -> uint32:
    """PTX ISA: ld."""


@instruction("ld.global.cg.u32 {result}, [{address}];")
def load_global_cg_u32(address: int64) -> uint32:
    """Past L1. PTX ISA: ld, cache operators."""


@instruction("ld.global.cg.v4.u32 {words}, [{address}];")
def load_global_cg_v4(words: Fragment(uint32, 4, written=True), address: int64):
    """Load 16 bytes from an address aligned to 16, past L1. PTX ISA: ld, cache operators."""


@instruction("st.shared.v4.u32 [{address}], {words};")
def store_shared_v4(address: uint32, words: Fragment(uint32, 4, read=True)):
    """Store 16 bytes to an address aligned to 16. PTX ISA: st."""


@instruction("ld.shared.v4.f32 {values}, [{address}];")
def load_shared_v4_f32(values: Fragment(float32, 4, written=True), address: uint32):
    """Load four f32 from an address aligned to 16. PTX ISA: ld."""


@instruction("st.shared.v2.u32 [{address}], {words};")
def store_shared_v2(address: uint32, words: Fragment(uint32, 2, read=True)):
    """Store 8 bytes to an address aligned to 8. PTX ISA: st."""


@instruction("st.global.u32 [{address}], {value};")
def store_global_u32(address: int64, value: uint32):
    """PTX ISA: st."""


@instruction("ld.global.v4.f32 {values}, [{address}];")
def load_global_v4_f32(values: Fragment(float32, 4, written=True), address: int64):
    """Load four f32 from an address aligned to 16. PTX ISA: ld."""


@instruction("st.global.s64 [{address}], {value};")
def store_global_s64(address: int64, value: int64):
    """PTX ISA: st."""


@instruction("st.global.v4.f32 [{address}], {values};")
def store_global_v4_f32(address: int64, values: Fragment(float32, 4, read=True)):
    """Store four f32 to an address aligned to 16. PTX ISA: st."""


@instruction("st.global.v4.u32 [{address}], {words};")
def store_global_v4(address: int64, words: Fragment(uint32, 4, read=True)):
    """Store 16 bytes to an address aligned to 16. PTX ISA: st."""


@instruction("st.global.v2.u32 [{address}], {words};")
def store_global_v2(address: int64, words: Fragment(uint32, 2, read=True)):
    """Store 8 bytes to an address aligned to 8. PTX ISA: st."""


@instruction("st.global.u16 [{address}], {value};")
def store_global_u16(address: int64, value: uint16):
    """PTX ISA: st."""
