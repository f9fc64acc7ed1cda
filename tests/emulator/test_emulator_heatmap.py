"""The picture of counts over source lines."""

import plain_kernels as plain
import pytest
from emulated_kernels import gemm, run_gemm

from playground.emulator import BadLaunch, heatmap


def test_a_heat_map_shows_the_source_and_its_counts(tmp_path):
    report, _ = run_gemm(gemm())
    figure = heatmap(report.counts, "shared_load_wavefronts", file=gemm.__wrapped__.__code__.co_filename)
    (axes,) = figure.axes
    texts = [text.get_text() for text in axes.texts]
    hot = next(text for text in texts if "wmma.load_a_row(a," in text)
    assert hot.split()[0].isdigit()
    assert "shared_load_wavefronts by line" in axes.get_title(loc="left")
    values = {text for text in texts if text.replace(",", "").isdigit()}
    assert values
    figure.savefig(tmp_path / "heat.png")
    assert (tmp_path / "heat.png").stat().st_size > 10_000


def test_the_hottest_file_is_drawn_if_none_is_named():
    import numpy as np

    from playground.emulator import emulate

    x = np.zeros((16, 16), np.float32)
    report = emulate(plain.transpose(), (1, 1), (16, 16), x, x.copy())
    (axes,) = heatmap(report.counts).axes
    assert axes.get_title(loc="left").startswith("plain_kernels.py")


def test_unknown_counts_and_files():
    report, _ = run_gemm(gemm())
    with pytest.raises(BadLaunch, match="no count 'warmth'"):
        heatmap(report.counts, "warmth")
    with pytest.raises(BadLaunch, match=r"no line of other\.py"):
        heatmap(report.counts, file="other.py")
