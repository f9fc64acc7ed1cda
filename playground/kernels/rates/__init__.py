"""Kernels that do one thing only, as fast as the hardware lets them: what the rates of a GPU are measured with."""
