"""wmma, mma.sync, ldmatrix and stmatrix: matrices spread over a warp's registers by the maps in `lanes`.

Source: PTX ISA, "Warp-level Matrix Instructions". Products are summed in float32 by NumPy: the order and the precision
of a tensor core's sums are unspecified, so results agree to rounding, not to the bit.
"""

import numpy as np

from playground.emulator import bfloat, hazards, lanes
from playground.emulator.errors import UnknownInstruction
from playground.emulator.instruction import Instruction
from playground.emulator.memory import Access, reach
from playground.emulator.operation import Effect, known
from playground.emulator.spaces import SPACES

ROW_BYTES = 16
MATRICES = {"x1": 1, "x2": 2, "x4": 4}
HALF_TO_FLOAT = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)


def build(instruction: Instruction, index: int):
    """The operation of a matrix instruction, or None if it is of another family."""
    if instruction.name in ("ldmatrix", "stmatrix"):
        return _row_matrices(instruction, index)
    if instruction.name == "mma":
        return _mma(instruction, index)
    if instruction.name != "wmma":
        return None
    builder = {"load": _wmma_load, "store": _wmma_store, "mma": _wmma_mma}.get(instruction.modifiers[0])
    if builder is None:
        raise UnknownInstruction(instruction)
    return builder(instruction, index)


def _stack(group, registers, rows):
    """Registers as (warps, registers, 32)."""
    stacked = np.empty((group.size // 32, len(registers), 32), registers[0].dtype)
    for place, register in enumerate(registers):
        stacked[:, place] = register.reshape(-1, 32) if np.ndim(register) else register
    return stacked[rows]


def _unstack(group, values, rows, copies: int = 1):
    """(warps, registers, 32) -> that many (lanes,) arrays, the whole repeated `copies` times."""
    if not isinstance(rows, slice):
        spread = np.zeros((group.size // 32, *values.shape[1:]), values.dtype)
        spread[rows] = values
        values = spread
    return tuple(np.ascontiguousarray(values[:, place]).reshape(-1) for place in range(values.shape[1])) * copies


def _rows_of_16_bytes(group, access: Access, space: str, rows, address):
    """Read 16 bytes at each address, int (warps, n): complex128 (warps, n), lane i standing for the i-th of a warp."""
    places = group.positions.reshape(-1, 32)[rows][:, : address.shape[1]].ravel()
    chosen = slice(None) if len(places) == group.size else places
    found, offsets, words = reach(group, access, space, chosen, address.ravel(), writes=False)
    values = group.place(found, words[ROW_BYTES][offsets // ROW_BYTES])
    return values.reshape(-1, 32)[rows][:, : address.shape[1]]


def _row_matrices(instruction: Instruction, index: int) -> Effect:
    """ldmatrix and stmatrix: 8×8 matrices of 16 bits, their rows at the addresses that lanes 0-7, 8-15, ... give."""
    known(instruction, "sync", "aligned", "m8n8", *MATRICES, "trans", "shared", "shared::cta")
    count = next((number for name, number in MATRICES.items() if name in instruction.modifiers), 0)
    transpose = "trans" in instruction.modifiers
    access = Access(index, "shared", ROW_BYTES, 1)
    if not count or instruction.type != "b16":
        raise UnknownInstruction(instruction)

    def addresses(group, mask, address):
        rows = group.full_warps(mask, index, hazards.SYNC)
        return rows, group.spread(address).reshape(-1, 32)[rows][:, : 8 * count]

    def load(group, mask, address):
        rows, address = addresses(group, mask, address)
        values = np.ascontiguousarray(_rows_of_16_bytes(group, access, "shared", rows, address)).view(np.uint16)
        values = values.reshape(-1, count, 8, 8)
        values = np.ascontiguousarray(values.swapaxes(2, 3)) if transpose else values
        results = _unstack(group, values.view(np.uint32).reshape(-1, count, 32), rows)
        return results if count > 1 else results[0]

    def store(group, mask, address, registers):
        rows, address = addresses(group, mask, address)
        values = _stack(group, registers, rows).view(np.uint16).reshape(-1, count, 8, 8)
        values = np.ascontiguousarray(values.swapaxes(2, 3) if transpose else values).view(np.complex128).ravel()
        places = group.positions.reshape(-1, 32)[rows][:, : 8 * count].ravel()
        found, offsets, words = reach(group, access, "shared", places, address.ravel(), writes=True)
        words[ROW_BYTES][offsets // ROW_BYTES] = values[np.isin(places, group.positions[found])]

    if instruction.name == "ldmatrix":
        return Effect(load, ("address",), ("b32",) * count)
    return Effect(store, ("address", ("b32",) * count))


def _inputs(kind: str):
    """How a fragment's registers, uint32 (warps, registers, 32), become the matrix, float32 (warps, rows, columns)."""
    widen = bfloat.widen if kind == "bf16" else HALF_TO_FLOAT.__getitem__

    def matrix(registers, fragment: lanes.Fragment):
        halves = registers.view(np.uint16).reshape(len(registers), -1)
        return widen(halves[:, fragment.packed_order])

    return matrix


def _multiply(fragments, kind: str, accumulator: str, result: str, index: int):
    a_fragment, b_fragment, c_fragment = fragments
    matrix = _inputs(kind)

    def multiply(group, mask, a, b, c):
        rows = group.full_warps(mask, index, hazards.SYNC)
        a_matrix = matrix(_stack(group, a[: a_fragment.elements // 2], rows), a_fragment)
        b_matrix = matrix(_stack(group, b[: b_fragment.elements // 2], rows), b_fragment)
        c_registers = _stack(group, c, rows)
        if accumulator == "f32":
            c_matrix = c_registers.reshape(len(c_registers), -1)[:, c_fragment.order]
        else:
            c_matrix = _inputs("f16")(c_registers, c_fragment)
        d_matrix = np.matmul(a_matrix, b_matrix) + c_matrix
        return _unstack(group, _to_registers(d_matrix, c_fragment, result), rows)

    return multiply


def _to_registers(matrix, fragment: lanes.Fragment, kind: str):
    """float32 (warps, rows, columns) -> (warps, registers, 32) of f32, or of f16 pairs."""
    elements = matrix[:, fragment.rows, fragment.columns]
    if kind == "f32":
        return elements
    halves = elements.astype(np.float16).view(np.uint16).astype(np.uint32)
    return halves[:, 0::2] | halves[:, 1::2] << np.uint32(16)


def _accumulator_reads(kind: str, fragment: lanes.Fragment) -> tuple[str, ...]:
    return ("f32",) * fragment.elements if kind == "f32" else ("b32",) * (fragment.elements // 2)


def _mma(instruction: Instruction, index: int) -> Effect:
    known(instruction, "sync", "aligned", "row", "col", *lanes.MMA)
    shape = next((part for part in instruction.modifiers if part in lanes.MMA), None)
    if shape is None or len(instruction.types) != 4 or instruction.modifiers[:2] != ("sync", "aligned"):
        raise UnknownInstruction(instruction)
    result, a_kind, b_kind, accumulator = instruction.types
    accumulators = ("f32",) if a_kind == "bf16" else ("f16", "f32")
    orders = [part for part in instruction.modifiers if part in ("row", "col")]
    if a_kind != b_kind or a_kind not in ("f16", "bf16") or orders != ["row", "col"]:
        raise UnknownInstruction(instruction)
    if result not in accumulators or accumulator not in accumulators:
        raise UnknownInstruction(instruction)
    fragments = lanes.MMA[shape]
    return _product(fragments, a_kind, accumulator, result, index)


def _product(fragments, kind: str, accumulator: str, result: str, index: int) -> Effect:
    a_fragment, b_fragment, c_fragment = fragments
    inputs = [("b32",) * (each.copies * each.elements // 2) for each in (a_fragment, b_fragment)]
    return Effect(
        _multiply(fragments, kind, accumulator, result, index),
        (*inputs, _accumulator_reads(accumulator, c_fragment)),
        _accumulator_reads(result, c_fragment),
    )


def _wmma_mma(instruction: Instruction, index: int) -> Effect:
    known(instruction, "mma", "sync", "aligned", "row", "col", *lanes.WMMA)
    fragments = lanes.WMMA[_shape(instruction)]
    kinds = instruction.types
    if len(kinds) == 2 and set(kinds) <= {"f16", "f32"}:
        return _product(fragments, "f16", kinds[1], kinds[0], index)
    if kinds == ("f32", "bf16", "bf16", "f32"):
        return _product(fragments, "bf16", "f32", "f32", index)
    raise UnknownInstruction(instruction)


def _shape(instruction: Instruction) -> str:
    shape = next((part for part in instruction.modifiers if part in lanes.WMMA), None)
    if shape is None:
        raise UnknownInstruction(instruction)
    return shape


def _wmma_memory(instruction: Instruction):
    """(which operand, its fragment, whether rows are contiguous in memory, state space, element type)."""
    known(instruction, "load", "store", "sync", "aligned", "a", "b", "c", "d", "row", "col", *lanes.WMMA, *SPACES)
    which = instruction.modifiers[1]
    fragment = lanes.WMMA[_shape(instruction)]["abcd".index(which) if which != "d" else 2]
    space = next((SPACES[part] for part in instruction.modifiers if part in SPACES), "generic")
    return which, fragment, "row" in instruction.modifiers, space, instruction.type


def _warp_address(group, rows, index: int, address, stride):
    """The address and stride of each warp, which must be the same in all of its lanes; int64 (warps,)."""
    result = []
    for value in (address, stride):
        by_lane = group.spread(value).reshape(-1, 32)[rows].astype(np.int64)
        uneven = (by_lane != by_lane[:, :1]).any(1)
        if uneven.any():
            warps = group.positions.reshape(-1, 32)[rows][uneven]
            group.report(hazards.UNIFORM, index, warps.ravel())
        result.append(by_lane[:, 0])
    return result


def _wmma_load(instruction: Instruction, index: int) -> Effect:
    which, fragment, by_rows, space, kind = _wmma_memory(instruction)
    stride_given = len(instruction.operands) == 3
    reads = ("address", "u32") if stride_given else ("address",)
    if which in "ab":
        if kind not in ("f16", "bf16"):
            raise UnknownInstruction(instruction)
        load = _load_operand(fragment, by_rows, space, index)
        return Effect(
            _with_stride(load, fragment, by_rows), reads, ("b32",) * (fragment.copies * fragment.elements // 2)
        )
    if kind not in ("f16", "f32"):
        raise UnknownInstruction(instruction)
    load = _load_accumulator(fragment, by_rows, space, kind, index)
    return Effect(_with_stride(load, fragment, by_rows), reads, _accumulator_reads(kind, fragment))


def _with_stride(function, fragment: lanes.Fragment, by_rows: bool):
    """Without a stride operand rows follow each other without a gap."""
    dense = np.uint32(fragment.shape[1] if by_rows else fragment.shape[0])
    return lambda group, mask, address, stride=dense: function(group, mask, address, stride)


def _load_operand(fragment: lanes.Fragment, by_rows: bool, space: str, index: int):
    """A and B are read as 8×8 tiles, each eight rows of 16 bytes, as ldmatrix does: 32 rows at a time."""
    lines, length = fragment.shape if by_rows else fragment.shape[::-1]
    tile_line, tile, line = np.meshgrid(np.arange(0, lines, 8), np.arange(0, length, 8), np.arange(8), indexing="ij")
    tile_line, tile = (tile_line + line).ravel(), tile.ravel()
    order = _tile_order(fragment, by_rows, length)
    access = Access(index, space, ROW_BYTES, 1)

    def load(group, mask, address, stride):
        rows = group.full_warps(mask, index, hazards.SYNC)
        base, stride = _warp_address(group, rows, index, address, stride)
        every = base[:, None] + 2 * (tile_line * stride[:, None] + tile)
        batches = [every[:, first : first + 32] for first in range(0, every.shape[1], 32)]
        parts = [_rows_of_16_bytes(group, access, space, rows, batch) for batch in batches]
        halves = np.ascontiguousarray(np.concatenate(parts, 1)).view(np.uint16)
        registers = np.ascontiguousarray(halves[:, order]).view(np.uint32).reshape(len(halves), -1, 32)
        return _unstack(group, registers, rows, fragment.copies)

    return load


def _tile_order(fragment: lanes.Fragment, by_rows: bool, length: int):
    """For each register, lane and half: where its element is among the halves as `_load_operand` reads them."""
    line, along = (fragment.rows, fragment.columns) if by_rows else (fragment.columns, fragment.rows)
    place = ((line // 8 * (length // 8) + along // 8) * 8 + line % 8) * 8 + along % 8
    return place.reshape(-1, 2, 32).swapaxes(1, 2).ravel()


def _accumulator_parts(fragment: lanes.Fragment, by_rows: bool):
    """[(elements, line, along)]: neighbours in memory go in one access. line, along: int64 (32,)."""
    line, along = (fragment.rows, fragment.columns) if by_rows else (fragment.columns, fragment.rows)
    pairs = (along[1::2] == along[0::2] + 1).all() and (line[1::2] == line[0::2]).all()
    step = 2 if pairs else 1
    return [((i, i + 1)[:step], line[i], along[i]) for i in range(0, fragment.elements, step)]


def _load_accumulator(fragment: lanes.Fragment, by_rows: bool, space: str, kind: str, index: int):
    element = 4 if kind == "f32" else 2

    def load(group, mask, address, stride):
        rows = group.full_warps(mask, index, hazards.SYNC)
        places, base, stride = _lane_addresses(group, rows, index, address, stride)
        elements = [0] * fragment.elements
        for numbers, line, along in _accumulator_parts(fragment, by_rows):
            access = Access(index, space, element, len(numbers))
            own = (base + element * (line * stride + along)).ravel()
            found, offsets, words = reach(group, access, space, places, own, writes=False)
            for part, number in enumerate(numbers):
                elements[number] = group.place(found, words[element][offsets // element + part])
        if kind == "f32":
            return tuple(bits.view(np.float32) for bits in elements)
        return tuple(
            low.astype(np.uint32) | high.astype(np.uint32) << np.uint32(16)
            for low, high in zip(elements[0::2], elements[1::2])
        )

    return load


def _lane_addresses(group, rows, index: int, address, stride):
    """(lanes of the rows, base and stride of their warps as (warps, 1))."""
    base, stride = _warp_address(group, rows, index, address, stride)
    places = slice(None) if isinstance(rows, slice) else group.positions.reshape(-1, 32)[rows].ravel()
    return places, base[:, None], stride[:, None]


def _wmma_store(instruction: Instruction, index: int) -> Effect:
    _, fragment, by_rows, space, kind = _wmma_memory(instruction)
    if kind not in ("f16", "f32"):
        raise UnknownInstruction(instruction)
    element = 4 if kind == "f32" else 2

    def store(group, mask, address, registers, stride):
        rows = group.full_warps(mask, index, hazards.SYNC)
        places, base, stride = _lane_addresses(group, rows, index, address, stride)
        elements = _elements(group, registers, kind)
        for numbers, line, along in _accumulator_parts(fragment, by_rows):
            access = Access(index, space, element, len(numbers))
            own = (base + element * (line * stride + along)).ravel()
            found, offsets, words = reach(group, access, space, places, own, writes=True)
            for part, number in enumerate(numbers):
                words[element][offsets // element + part] = elements[number][found]

    dense = np.uint32(fragment.shape[1] if by_rows else fragment.shape[0])
    stride_given = len(instruction.operands) == 3
    reads = ("address", _accumulator_reads(kind, fragment), "u32")
    if stride_given:
        return Effect(store, reads)
    return Effect(lambda group, mask, address, registers: store(group, mask, address, registers, dense), reads[:2])


def _elements(group, registers, kind: str):
    """Bits of each of a lane's elements, (lanes,) arrays."""
    registers = [group.spread(register) for register in registers]
    if kind == "f32":
        return [register.view(np.uint32) for register in registers]
    return [
        half
        for register in registers
        for half in (register.astype(np.uint16), (register >> np.uint32(16)).astype(np.uint16))
    ]
