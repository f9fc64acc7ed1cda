"""A playground for GPU kernels in Numba CUDA: describe, build, run, measure, report."""

from playground.errors import Refusal
from playground.mechanism import ControlRun, Counted, InLedger, Mechanism, Timed, Untestable, UpperBound
from playground.probe import Claim, Prediction, Probe, Share

__all__ = [
    "Claim",
    "ControlRun",
    "Counted",
    "InLedger",
    "Mechanism",
    "Prediction",
    "Probe",
    "Refusal",
    "Share",
    "Timed",
    "Untestable",
    "UpperBound",
]
