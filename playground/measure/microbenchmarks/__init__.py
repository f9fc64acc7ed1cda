"""Microbenchmarks: the rates of a GPU, each from a kernel that does one thing and whose result is checked."""
