"""Runner 1: a Build on a real device, through the CUDA driver API."""
