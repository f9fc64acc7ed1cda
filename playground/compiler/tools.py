"""NVIDIA's command-line tools, from their wheels or from a CUDA toolkit on the path."""

import shutil
from functools import cache
from pathlib import Path


@cache
def find_tool(name: str) -> str | None:
    """The path of nvdisasm, compute-sanitizer, …; None where there is none."""
    try:
        import nvidia

        wheels = [str(path) for root in nvidia.__path__ for path in Path(root).glob(f"*/bin/{name}*")]
    except ImportError:
        wheels = []
    return next(iter(wheels), None) or shutil.which(name)
