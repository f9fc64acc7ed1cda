"""cp.async: copies from global to shared memory that the thread does not wait for.

PTX ISA, "Data Movement and Conversion Instructions: cp.async". A barrier does not order these copies: a thread must
commit its copies to a group and wait for that group, and only then does a barrier make them visible to other threads.
"""

from numba.cuda import types

from playground.ptx._instruction import Immediate, instruction

int32, int64, uint32 = types.int32, types.int64, types.uint32


@instruction("cp.async.cg.shared.global [{destination}], [{source}], 16, {source_bytes};")
def copy_16(destination: uint32, source: int64, source_bytes: int32):
    """Start a copy of 16 bytes, past L1. Both addresses are 16-byte aligned.

    Only the first `source_bytes` (0 to 16) are read, and the rest of the destination is filled with zeros: with 0,
    `source` is not dereferenced at all. PTX ISA: cp.async.
    """


@instruction("cp.async.commit_group;")
def commit():
    """Close the group of all copies that this thread started since its last commit. PTX ISA: cp.async.commit_group."""


@instruction("cp.async.wait_group {pending};")
def wait_group(pending: Immediate):
    """Wait until at most `pending` of this thread's latest groups are still in flight. PTX ISA: cp.async.wait_group."""
