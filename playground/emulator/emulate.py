"""emulate: run any Numba CUDA kernel, given as the Python function, on NumPy arrays."""

import inspect
import math
from functools import lru_cache
from itertools import combinations

import numpy as np

from playground.compiler.arch import ARCHS
from playground.emulator.errors import BadLaunch
from playground.emulator.global_memory import GlobalMemory
from playground.emulator.launch import BUDGET, Report, extent, launch


def emulate(
    function,
    grid,
    block,
    *arguments,
    shared_bytes: int = 0,
    cc: tuple[int, int] = (9, 0),
    mode: str = "grid",
    checks: bool = True,
    budget: int = BUDGET,
) -> Report:
    """Compile a kernel as numba-cuda does, and run its PTX.

    function: a Python function or what @cuda.jit made of it. arguments: NumPy arrays, C- or F-contiguous, and scalars,
    typed as Numba types them (int: int64, or uint64 from 2**63 on; float: float64; NumPy scalars: their own type).
    Arrays are written back in place, and `outputs` holds them in order; one that is given twice is the same memory in
    both places. cc: a compute capability that the playground knows. The rest is `launch`'s.

    Raises BadLaunch (a ValueError) for arguments that a kernel cannot take, and Numba's own errors for code that does
    not compile.
    """
    python = _python_function(function, len(arguments))
    cc = _known_capability(cc)
    memory, addresses = GlobalMemory(), {}
    signature, parameters, placed = [], [], []
    for place, argument in enumerate(arguments):
        if isinstance(argument, np.ndarray):
            key = _identity(argument)
            if key not in addresses:
                addresses[key] = memory.place(_in_memory_order(argument, place))
            address = addresses[key]
            placed.append((argument, address))
            parameters += _array_parameters(argument, address)
        else:
            parameters.append(_scalar(argument, place))
        signature.append(_numba_type(argument))
    _refuse_overlap(arguments)
    threads = math.prod(extent(block, "block"))
    fastmath = bool(getattr(function, "targetoptions", {}).get("fastmath"))
    ptx = _compile(python, tuple(signature), cc, threads, fastmath)
    report = launch(ptx, grid, block, parameters, memory, shared_bytes, mode=mode, checks=checks, budget=budget)
    report.outputs = [_write_back(argument, memory.read(address)) for argument, address in placed]
    return report


def _python_function(function, given: int):
    """The Python function of a kernel, which takes so many arguments."""
    python = getattr(function, "py_func", function)
    if not inspect.isfunction(python):
        raise BadLaunch(f"a kernel is a Python function or what @cuda.jit made of it, not {type(function).__name__}")
    parameters = inspect.signature(python).parameters.values()
    if len(parameters) != given:
        names = ", ".join(parameter.name for parameter in parameters)
        raise BadLaunch(f"{python.__name__}({names}) takes {len(parameters)} arguments, {given} were given")
    return python


def _known_capability(cc) -> tuple[int, int]:
    known = [arch.cc for arch in ARCHS.values()]
    if not isinstance(cc, tuple) or cc not in known:
        raise BadLaunch(f"cc is {cc!r}: it must be one of {', '.join(map(str, known))}")
    return known[known.index(cc)]


def _identity(array: np.ndarray) -> tuple:
    """What two arguments have in common that are the same array."""
    return array.ctypes.data, array.shape, array.strides, array.dtype


def _refuse_overlap(arguments):
    """Arrays that share memory without being the same would be copied apart, and a kernel would not see its writes."""
    arrays = [(place, each) for place, each in enumerate(arguments) if isinstance(each, np.ndarray)]
    for (first, one), (second, other) in combinations(arrays, 2):
        if np.may_share_memory(one, other) and _identity(one) != _identity(other):
            raise BadLaunch(f"arguments {first} and {second} overlap in memory and are not the same array; copy one")


def _in_memory_order(array: np.ndarray, place: int) -> np.ndarray:
    if array.flags.c_contiguous:
        return array
    if array.flags.f_contiguous:
        return array.T
    raise BadLaunch(
        f"argument {place}: shape {array.shape} with strides {array.strides} is neither C- nor F-contiguous;"
        " pass np.ascontiguousarray of it"
    )


def _array_parameters(array: np.ndarray, address: int) -> list[int]:
    """Numba's array structure: meminfo, parent, number of items, item size, data, shape, strides."""
    return [0, 0, array.size, array.itemsize, address, *array.shape, *array.strides]


def _scalar(argument, place: int):
    if isinstance(argument, int) and not -(2**63) <= argument < 2**64:
        raise BadLaunch(f"argument {place} is {argument:#x}: it fits neither int64 nor uint64")
    if isinstance(argument, (bool, int, float, np.integer, np.bool_)) or (
        isinstance(argument, np.floating) and argument.itemsize in (4, 8)
    ):
        return argument
    raise BadLaunch(f"argument {place} is a {type(argument).__name__}: a kernel takes NumPy arrays and real numbers")


def _write_back(array: np.ndarray, result: np.ndarray) -> np.ndarray:
    if array.flags.writeable:
        array[...] = result if array.flags.c_contiguous else result.T
        return array
    return result if array.flags.c_contiguous else result.T


def _numba_type(argument):
    import numba  # late: it takes a second, and running PTX needs no compiler

    if isinstance(argument, np.ndarray):
        layout = "C" if argument.flags.c_contiguous else "F"
        return numba.types.Array(_dtype(argument), argument.ndim, layout)
    return numba.typeof(argument)


def _dtype(array: np.ndarray):
    import numba
    from numba.core.errors import NumbaNotImplementedError

    try:
        return numba.from_dtype(array.dtype)
    except NumbaNotImplementedError as error:
        raise BadLaunch(f"Numba has no type for arrays of dtype {array.dtype}") from error


@lru_cache(maxsize=64)
def _compile(function, signature: tuple, cc: tuple[int, int], threads: int, fastmath: bool) -> str:
    from playground.compiler.numba_ptx import to_ptx

    return to_ptx(function, signature, cc, threads, fastmath=fastmath)
