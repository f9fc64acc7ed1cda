"""Runs the PTX of a kernel on a CPU: the same results, the hazards that results hide, and a profiler's counts."""

from playground.emulator.emulate import emulate
from playground.emulator.errors import BadLaunch, BudgetExceeded, UnknownInstruction
from playground.emulator.global_memory import GlobalMemory
from playground.emulator.hazards import Hazard
from playground.emulator.launch import Report, launch

__all__ = [
    "BadLaunch",
    "BudgetExceeded",
    "GlobalMemory",
    "Hazard",
    "Report",
    "UnknownInstruction",
    "emulate",
    "launch",
]
