"""ld and st in every state space. Source: PTX ISA, "State Spaces", "ld", "ld.global.nc", "st"."""

import numpy as np

from playground.emulator.errors import BadLaunch, UnknownInstruction
from playground.emulator.instruction import Instruction, Vector
from playground.emulator.operation import Effect, known
from playground.emulator.shared_memory import READ, WRITE
from playground.emulator.spaces import SPACES, WINDOW_BYTES, WINDOWS
from playground.emulator.types import UNSIGNED, WIDTH, is_float, size, value

ORDER = ("weak", "volatile", "relaxed", "acquire", "release", "cta", "gpu", "sys", "cluster")
CACHE = ("nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt")
STRONG = {"volatile", "relaxed", "acquire", "release"}
LENGTHS = {"v2": 2, "v4": 4, "v8": 8}


def build(instruction: Instruction, index: int):
    """The operation of a load or store, or None if it is of another family."""
    if instruction.name not in ("ld", "st"):
        return None
    hints = [part for part in instruction.modifiers if part.startswith(("L1::", "L2::"))]
    found = known(instruction, *SPACES, *ORDER, *CACHE, *LENGTHS, "param", *hints)
    spaces = [SPACES[part] for part in found if part in SPACES]
    kind = instruction.type
    count = next((LENGTHS[part] for part in found if part in LENGTHS), 1)
    if len(spaces) > 1 or WIDTH[kind] < 8 or count * size(kind) > 32:
        raise UnknownInstruction(instruction)
    if "param" in found:
        return _kernel_parameter(instruction, kind, count)
    access = Access(index, spaces[0] if spaces else "generic", size(kind), count, bool(found & STRONG))
    bits = f"u{WIDTH[kind]}"
    if instruction.name == "ld":
        kinds = (kind if is_float(kind) else _integer(kind),) * count
        return Effect(_load(access, kinds[0]), ("address",), kinds)
    vector = isinstance(instruction.operands[1], Vector)
    return Effect(_store(access), ("address", (bits,) * count if vector else bits))


def _integer(kind: str) -> str:
    """Signed types extend their sign into a wider register."""
    return kind if kind[0] == "s" else f"u{WIDTH[kind]}"


def _kernel_parameter(instruction: Instruction, kind: str, count: int) -> Effect:
    if instruction.name != "ld" or count != 1:
        raise UnknownInstruction(instruction)
    address = instruction.operands[1]
    return Effect(
        lambda group, mask, _: group.launch.parameter(address.base.name, address.offset, kind),
        ("parameter",),
        (kind if is_float(kind) else _integer(kind),),
    )


class Access:
    """Where an instruction goes. element: bytes of each of `count` parts; strong: may meet other blocks' writes."""

    def __init__(self, instruction: int, space: str, element: int, count: int, strong: bool = False):
        self.instruction = instruction
        self.space = space
        self.element = element
        self.count = count
        self.bytes = element * count
        self.strong = strong


def _load(access: Access, kind: str):
    dtype = value(kind)

    def load(group, mask, address):
        lanes = group.active(mask)
        parts = [(lanes, group.gather(lanes, address), access.space)]
        if access.space == "generic":
            parts = split_generic(group, *parts[0][:2])
        results = [0] * access.count
        for lanes, own, space in parts:
            bits = read(group, access, space, lanes, own)
            results = [merge_parts(result, part) for result, part in zip(results, bits)]
        results = tuple(result.view(dtype) for result in results)
        return results if access.count > 1 else results[0]

    return load


def merge_parts(result, part):
    """Parts of a generic access are 0 in each other's lanes."""
    return part if isinstance(result, int) else result | part


def split_generic(group, lanes, address):
    """[(lanes, address in the space, space)] of generic addresses."""
    parts = []
    rest = np.ones(len(address), bool)
    for space in ("shared", "local"):
        base = np.uint64(WINDOWS[space])
        inside = address - base < np.uint64(WINDOW_BYTES)
        if inside.any():
            parts.append((group.positions[lanes][inside], address[inside] - base, space))
            rest &= ~inside
    if rest.all():
        return [(lanes, address, "global")]
    if rest.any():
        parts.append((group.positions[lanes][rest], address[rest], "global"))
    return parts


def read(group, access: Access, space: str, lanes, address):
    """Arrays (lanes,), one per element, as unsigned bits."""
    lanes, offsets, words = reach(group, access, space, lanes, address, writes=False)
    first = offsets // access.element
    return [group.place(lanes, words[access.element][first + part]) for part in range(access.count)]


def reach(group, access: Access, space: str, lanes, address, writes: bool):
    """Check and count an access; (lanes, offsets, words by width) of what may be touched."""
    launch = group.launch
    if space == "generic":
        parts = split_generic(group, lanes, address.astype(np.uint64))
        if len(parts) > 1:
            raise BadLaunch(f"{launch.instructions[access.instruction].where}: one instruction, several state spaces")
        ((lanes, address, space),) = parts
    if space == "local":
        lanes, offsets = group.chunk.local.locate(group, access.instruction, lanes, address, access.bytes)
        return lanes, offsets, group.chunk.local.words
    if space == "shared":
        shared = group.chunk.shared
        lanes, offsets = shared.locate(group, access.instruction, lanes, address, access.bytes)
        shared.note(group, WRITE if writes else READ, access.instruction, lanes, offsets, access.bytes)
        launch.counts.shared(group, access.instruction, lanes, offsets, access.bytes)
        return lanes, offsets, shared.words
    arena = launch.arena
    lanes, offsets = arena.locate(group, access.instruction, lanes, address, access.bytes)
    how = "atomic" if access.strong else "write" if writes else "read"
    arena.note(group, how, access.instruction, lanes, offsets, access.bytes)
    launch.counts.global_(group, access.instruction, lanes, offsets, access.bytes)
    return lanes, offsets, arena.words


def _store(access: Access):
    dtype = UNSIGNED[8 * access.element]

    def store(group, mask, address, values):
        lanes = group.active(mask)
        parts = [(lanes, group.gather(lanes, address), access.space)]
        if access.space == "generic":
            parts = split_generic(group, *parts[0][:2])
        values = values if isinstance(values, tuple) else (values,)
        for lanes, own, space in parts:
            lanes, offsets, words = reach(group, access, space, lanes, own, writes=True)
            first = offsets // access.element
            for part, element in enumerate(values):
                words[access.element][first + part] = group.gather(lanes, element).view(dtype)

    return store
