"""A playground for GPU kernels in Numba CUDA: describe, build, run, measure, report."""

from playground.errors import Refusal
from playground.probe import Claim, Prediction, Probe

__all__ = ["Claim", "Prediction", "Probe", "Refusal"]
