"""The emulator against what else looks at the same launches: the GPU, Nsight Compute, compute-sanitizer."""
