"""Problems on the device."""

import pytest

from playground.kernels.gemm_f16_nt import GEMM_NT
from playground.measure.inputs import random_inputs


@pytest.fixture
def gemm_on(device):
    """`gemm_on(nt, od, id)`: (workspace, inputs), freed after the test."""
    from playground.gpu.workspace import Workspace

    open_ones = []

    def make(nt, od, id, seed=1):
        inputs = random_inputs(GEMM_NT, {"nt": nt, "od": od, "id": id}, seed)
        open_ones.append(Workspace(device, GEMM_NT, inputs))
        return open_ones[-1], inputs

    yield make
    for workspace in open_ones:
        workspace.__exit__()
