"""The instruction mix of a cubin, if nvdisasm is at hand (the wheel nvidia-cuda-nvdisasm, or a CUDA toolkit)."""

import re
import subprocess
import tempfile
from collections import Counter

from playground.compiler.tools import find_tool

INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)", re.MULTILINE)


def instruction_mix(cubin: bytes) -> dict[str, int] | None:
    """Static count per opcode (HMMA.16816.F32, LDGSTS.E.BYPASS.128, …), most frequent first; None without nvdisasm."""
    tool = find_tool("nvdisasm")
    if tool is None:
        return None
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        listing = subprocess.run([tool, "-c", file.name], capture_output=True, text=True)
    if listing.returncode:
        return None
    return dict(Counter(INSTRUCTION.findall(listing.stdout)).most_common())
