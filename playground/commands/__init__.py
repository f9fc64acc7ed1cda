"""The sub-commands of `python -m playground`: those that belong together in one module."""
