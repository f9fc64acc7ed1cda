"""Small kernels to PTX."""

import pytest


@pytest.fixture(scope="session")
def ptx_of():
    """`ptx_of(function, *types)`: the PTX of a kernel with these argument types, for sm_80 and 32 threads."""
    from playground.compiler import numba_ptx

    def compile(function, *types):
        return numba_ptx.to_ptx(function, types, (8, 0), 32)

    return compile
