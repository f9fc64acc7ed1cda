"""Runs single PTX statements over arrays, and counts of a report by kind and line: what the tests are written in."""

import re
from collections import Counter

import numpy as np
from hypothesis import strategies as st

from playground.emulator import GlobalMemory, launch

LANES = 64
SEEDS = st.integers(0, 2**32 - 1)
REGISTER = {1: "b16", 2: "b16", 4: "b32", 8: "b64"}
HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"


def register_type(dtype) -> str:
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return "pred"
    return f"f{8 * dtype.itemsize}" if dtype.kind == "f" and dtype.itemsize > 2 else REGISTER[dtype.itemsize]


def kernel(parameters, body: str, declarations: str = "", threads: int | None = None) -> str:
    """A module with one kernel; parameters: PTX types, called p0, p1, ... in the body."""
    listed = ",\n".join(f".param .{kind} p{place}" for place, kind in enumerate(parameters))
    bounds = f".maxntid {threads}, 1, 1\n" if threads else ""
    return f"{HEADER}{declarations}\n.visible .entry kernel(\n{listed}\n)\n{bounds}{{\n{body}\nret;\n}}\n"


def run(ptx: str, arrays, block=32, grid=1, scalars=(), **options):
    """Launch with the arrays' addresses and then the scalars as parameters; the report."""
    memory = GlobalMemory()
    addresses = [memory.place(np.ascontiguousarray(array)) for array in arrays]
    return launch(ptx, grid, block, [*addresses, *scalars], memory, **options)


def evaluate(statement: str, results, **operands):
    """What a statement gives, lane by lane.

    statement: PTX with registers %a, %b, ... for the operands (arrays of one length) and %d, %e for the results, of
    which `results` gives the dtypes. Immediate operands are written out in the statement.
    """
    results = results if isinstance(results, (list, tuple)) else [results]
    names = ["d", "e", "f", "g", "h", "i", "j", "k"][: len(results)]
    lanes = len(next(iter(operands.values())))
    declared, loads, stores = [], [], []
    for place, (name, array) in enumerate(operands.items()):
        declared.append(_declare(name, array.dtype))
        loads.append(_load(place, name, array.dtype))
    for place, (name, dtype) in enumerate(zip(names, results), len(operands)):
        declared.append(_declare(name, dtype))
        stores.append(_store(place, name, dtype))
    parameters = ["u64"] * (len(operands) + len(results))
    body = "\n".join(
        [
            *declared,
            ".reg .b32 %block, %threads, %thread;\n.reg .b64 %at, %lane;\n.reg .pred %outside;",
            "mov.u32 %block, %ctaid.x;\nmov.u32 %threads, %ntid.x;\nmov.u32 %thread, %tid.x;",
            "mad.lo.u32 %thread, %block, %threads, %thread;\ncvt.u64.u32 %lane, %thread;",
            f"setp.ge.u32 %outside, %thread, {lanes};\n@%outside ret;",
            *loads,
            statement,
            *stores,
        ]
    )
    arrays = [*operands.values(), *(np.zeros(lanes, dtype) for dtype in results)]
    block = min(-(-lanes // 32) * 32, 256)
    report = run(kernel(parameters, body), arrays, block=block, grid=-(-lanes // block))
    assert report.hazards == []
    outputs = report.outputs[len(operands) :]
    return outputs[0] if len(outputs) == 1 else outputs


def _declare(name: str, dtype) -> str:
    return f".reg .{register_type(dtype)} %{name};"


def _address(place: int, dtype) -> str:
    return f"ld.param.u64 %at, [p{place}];\nmad.lo.u64 %at, %lane, {np.dtype(dtype).itemsize}, %at;"


def _memory_type(dtype) -> str:
    dtype = np.dtype(dtype)
    if dtype.kind == "f" and dtype.itemsize > 2:
        return f"f{8 * dtype.itemsize}"
    return f"{'s' if dtype.kind == 'i' else 'u'}{8 * dtype.itemsize}"


def _load(place: int, name: str, dtype) -> str:
    if dtype == np.bool_:
        load = f"ld.global.u8 %byte, [%at];\nsetp.ne.u16 %{name}, %byte, 0;"
        return f"{{\n.reg .b16 %byte;\n{_address(place, dtype)}\n{load}\n}}"
    return f"{_address(place, dtype)}\nld.global.{_memory_type(dtype)} %{name}, [%at];"


def _store(place: int, name: str, dtype) -> str:
    if np.dtype(dtype) == np.bool_:
        store = f"selp.u16 %byte, 1, 0, %{name};\nst.global.u8 [%at], %byte;"
        return f"{{\n.reg .b16 %byte;\n{_address(place, dtype)}\n{store}\n}}"
    return f"{_address(place, dtype)}\nst.global.{_memory_type(dtype)} [%at], %{name};"


def mixture(seed: int, edges, random):
    """Edge cases and random numbers, shuffled: `random(generator, n)` makes those. LANES of them."""
    generator = np.random.default_rng(seed)
    edges = np.asarray(edges)
    values = np.concatenate(
        [generator.choice(edges, LANES // 2), random(generator, LANES - LANES // 2).astype(edges.dtype)]
    )
    return generator.permutation(values)


def integers(kind: str):
    """A strategy for arrays of an integer type, s32 and the like: its edges, small numbers, and any numbers."""
    dtype = np.dtype(f"{'i' if kind[0] == 's' else 'u'}{int(kind[1:]) // 8}")
    limits = np.iinfo(dtype)
    edges = {limits.min, limits.min + 1, limits.max, limits.max - 1, 0, 1, 2, 3, limits.max // 2, limits.max // 2 + 1}
    edges |= {-1, -2} if limits.min else set()
    edges = np.array(sorted(edges), dtype)
    return SEEDS.map(
        lambda seed: mixture(
            seed, edges, lambda generator, n: generator.integers(limits.min, limits.max, n, dtype, True)
        )
    )


def kinds(report) -> set[str]:
    """The kinds of hazard that a report has."""
    return {hazard.kind for hazard in report.hazards}


def facts(report) -> list[tuple]:
    """Everything about hazards that must not depend on the mode."""
    return [
        (hazard.kind, hazard.line, hazard.instruction, hazard.block, hazard.warp, hazard.lanes, hazard.count)
        for hazard in report.hazards
    ]


def by_opcode(counts) -> dict[str, int]:
    """PTX opcode -> warp-level instructions executed."""
    found = Counter()
    for instruction, executed in zip(counts.instructions, counts.table["inst_executed"].tolist()):
        found[".".join(instruction.opcode)] += executed
    return {opcode: executed for opcode, executed in found.items() if executed}


def line_of(source: str, text: str) -> int:
    """The number of the one line of a source that has a text in it."""
    (found,) = [number for number, line in enumerate(source.splitlines(), 1) if re.search(re.escape(text), line)]
    return found
