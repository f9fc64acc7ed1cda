"""What an instruction is counted as, how much it computes, and which memory it may touch."""

from playground.emulator.spaces import SPACES
from playground.emulator.types import is_float, size

CLASSES = {
    "barrier": ("bar", "barrier"),
    "branch": ("bra", "ret", "exit", "call", "trap", "brkpt"),
    "tensor": ("wmma", "mma", "ldmatrix", "stmatrix", "movmatrix"),
    "warp": ("shfl", "vote", "match", "activemask", "redux", "elect"),
    "cp_async": ("cp",),
    "atomic": ("atom", "red"),
    "special_function": ("ex2", "lg2", "rcp", "rsqrt", "sqrt", "sin", "cos", "tanh"),
    "conversion": ("cvt",),
    "move": ("mov", "selp", "slct", "cvta", "prmt", "isspacep"),
    "compare": ("setp", "set"),
    "fence": ("membar", "fence", "nanosleep"),
}
_CLASS_OF = {name: label for label, names in CLASSES.items() for name in names}


def classify(instruction) -> str:
    """The class that an instruction is counted in."""
    name = instruction.name
    if name in ("ld", "st"):
        space = next(
            (part for part in instruction.modifiers if part in ("shared", "global", "local", "param")), "generic"
        )
        return f"{name}_{space}"
    if name in _CLASS_OF:
        return _CLASS_OF[name]
    return "float" if instruction.types and is_float(instruction.type) else "integer"


def traffic(instruction) -> str:
    """load, store, atomic or cp_async: what its bytes are counted as."""
    name = instruction.name
    if name in ("atom", "red"):
        return "atomic"
    if name == "cp":
        return "cp_async"
    stores = name in ("st", "stmatrix") or instruction.opcode[:2] == ("wmma", "store")
    return "store" if stores else "load"


def flop(instruction) -> int:
    """Multiplications and additions of one warp-wide MMA; 0 of anything else."""
    if instruction.name != "mma" and instruction.opcode[:2] != ("wmma", "mma"):
        return 0
    shape = next(part for part in instruction.modifiers if part.startswith("m") and part[1].isdigit())
    m, n, k = (int(number) for number in shape[1:].replace("n", " ").replace("k", " ").split())
    return 2 * m * n * k


def memory_accesses(instructions) -> tuple[int, int, list[int]]:
    """(bytes in shared memory, bytes in global memory, instructions that may touch global memory).

    Hazards are kept per cell of the smallest access that is made in a memory.
    """
    shared, global_, touching = 16, 16, []
    for index, instruction in enumerate(instructions):
        smallest = access_bytes(instruction)
        spaces = {SPACES[part] for part in instruction.modifiers if part in SPACES}
        if smallest is None or "param" in instruction.modifiers:
            continue
        if "shared" in spaces or not spaces:
            shared = min(shared, smallest)
        if "global" in spaces or not spaces:
            global_ = min(global_, smallest)
            touching.append(index)
    return shared, global_, touching


def access_bytes(instruction) -> int | None:
    """The smallest piece of memory that an instruction touches at once, None if it touches none."""
    name = instruction.name
    if name in ("ld", "st", "atom", "red"):
        return size(instruction.type)
    if name in ("ldmatrix", "stmatrix"):
        return 16
    if name == "cp" and len(instruction.operands) >= 3:
        return min(int(instruction.operands[2].text, 0), 4 if len(instruction.operands) > 3 else 16)
    if name == "wmma" and instruction.modifiers[0] in ("load", "store"):
        return 16 if instruction.modifiers[1] in "ab" else size(instruction.type)
    return 1 if name == "call" else None
