"""A playground for GPU kernels in Numba CUDA: describe, build, run, measure, report."""

from playground.errors import Refusal
from playground.probe import Claim, Prediction, Probe, Share

__all__ = ["Claim", "Prediction", "Probe", "Refusal", "Share"]
