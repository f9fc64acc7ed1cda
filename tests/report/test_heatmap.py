"""The picture of counts over source lines."""

import numpy as np
import pytest

from playground.compiler.arch import ARCHS
from playground.compiler.build import build
from playground.emulator import emulate
from playground.emulator.workspace import EmulatedWorkspace
from playground.errors import Refusal
from playground.kernels import gemm_f16_nt
from playground.measure.inputs import random_inputs
from playground.report.heatmap import heatmap


@pytest.fixture(scope="module")
def counts():
    kernel = gemm_f16_nt(TM=64)
    inputs = random_inputs(kernel.contract, {"nt": 64, "od": 64, "id": 64}, 0)
    return EmulatedWorkspace(kernel.contract, inputs).report(build(kernel, ARCHS["sm_90"])).counts


def test_a_heat_map_shows_the_source_and_its_counts(counts, tmp_path):
    file = next(name for name, _ in counts.by_line() if name.endswith("gemm_f16_nt.py"))
    figure = heatmap(counts, "shared_load_wavefronts", file=file)
    (axes,) = figure.axes
    texts = [text.get_text() for text in axes.texts]
    hot = next(text for text in texts if "wmma.load_a_row(fa[i]," in text)
    assert hot.split()[0].isdigit()
    assert "shared_load_wavefronts by line" in axes.get_title(loc="left")
    values = {text for text in texts if text.replace(",", "").isdigit()}
    assert values
    figure.savefig(tmp_path / "heat.png")
    assert (tmp_path / "heat.png").stat().st_size > 10_000


def test_the_hottest_file_is_drawn_if_none_is_named():
    from numba import cuda

    def double(x):
        x[cuda.grid(1)] *= 2

    (axes,) = heatmap(emulate(double, 1, 32, np.ones(32, np.float32)).counts).axes
    assert axes.get_title(loc="left").startswith("test_heatmap.py")


def test_unknown_counts_and_files(counts):
    with pytest.raises(Refusal, match="no count 'warmth'"):
        heatmap(counts, "warmth")
    with pytest.raises(Refusal, match=r"no line of other\.py"):
        heatmap(counts, file="other.py")
