"""ldmatrix: 8×8 matrices of 16-bit elements from shared memory, straight into the fragments of mma.

PTX ISA, "Warp-level matrix load instruction: ldmatrix". The whole warp executes it together; sm_75 and later.
"""

from numba.cuda import types

from playground.ptx._instruction import Fragment, instruction

uint32 = types.uint32


@instruction("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {matrices}, [{address}];")
def load_4_matrices(matrices: Fragment(uint32, 4, written=True), address: uint32):
    """Load four matrices; lane L gives the address of row L % 8 of matrix L / 8, aligned to 16.

    Of each matrix the lane receives the pair of elements 2 (L % 4) and the next in row L / 4. PTX ISA: ldmatrix.
    """
