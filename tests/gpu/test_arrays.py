"""Arrays that many launches share: which program a build is launched by. Needs no GPU."""

from types import SimpleNamespace

import pytest

pytest.importorskip("cuda.bindings")

from playground.compiler.arch import ARCHS
from playground.compiler.build import build
from playground.gpu import arrays
from playground.kernels import pinned
from playground.kernels.l2_sweep import l2_sweep


def test_a_build_is_loaded_once_and_a_pinned_one_is_another_though_its_machine_code_is_the_same(monkeypatch):
    """Pinned, it is launched with other shared memory; by the same program both would be timed unpinned."""
    loaded = []

    def load(made, device):
        loaded.append(made)
        return SimpleNamespace(launcher=lambda addresses, dims: made.dynamic_shared)

    monkeypatch.setattr(arrays, "Program", load)
    kernel, arch = l2_sweep(), ARCHS["sm_90"]
    free, one_per_sm = build(kernel, arch), build(pinned(kernel, 1), arch)
    assert free.cubin == one_per_sm.cubin
    shared = arrays.DeviceArrays(SimpleNamespace(arch=arch))
    tensors, dims = [SimpleNamespace(address=0)] * 2, {"n": 524_288}
    sizes = [shared.launcher(made, tensors, dims) for made in (free, one_per_sm, free, one_per_sm)]
    assert sizes == [free.dynamic_shared, one_per_sm.dynamic_shared] * 2
    assert sizes[0] < sizes[1]
    assert loaded == [free, one_per_sm]
