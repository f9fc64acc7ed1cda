"""emulate: users' own kernels, as Numba compiles them, against NumPy and SciPy."""

import math
from inspect import isbuiltin
from pathlib import Path

import numpy as np
import plain_kernels as plain
import pytest
from numba import cuda, float32, float64, int32
from ptx_harness import kinds
from scipy import special

from playground.emulator import BadLaunch, BudgetExceeded, UnknownInstruction, emulate, hazards

RANDOM = np.random.default_rng(0)


def elementwise(function, *arrays, result):
    """Call a function of `math`, or a Python function, on every element."""
    inner = function if isbuiltin(function) else cuda.jit(device=True, forceinline=True)(function)

    def one(a, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = inner(a[i])

    def two(a, b, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = inner(a[i], b[i])

    out = np.zeros(arrays[0].shape, result)
    report = emulate(one if len(arrays) == 1 else two, -(-out.size // 64), 64, *arrays, out)
    assert report.clean
    return out


MATHS = {
    "exp": (math.exp, np.exp),
    "log": (math.log, np.log),
    "sqrt": (math.sqrt, np.sqrt),
    "sin": (math.sin, np.sin),
    "cos": (math.cos, np.cos),
    "tanh": (math.tanh, np.tanh),
    "erf": (math.erf, special.erf),
    "lgamma": (math.lgamma, special.gammaln),
    "atan": (math.atan, np.arctan),
    "floor": (math.floor, np.floor),
    "cbrt": (lambda x: x ** (1 / 3), np.cbrt),
}


@pytest.mark.parametrize("name", MATHS)
def test_mathematics_in_both_precisions(name):
    """libdevice's own sequences: carries, bit fields, tables in global memory, calls."""
    function, reference = MATHS[name]
    x = np.concatenate([RANDOM.uniform(0.01, 4, 60), [1e-3, 50.0, 80.0]])
    for dtype, tolerance in ((np.float32, 4e-7), (np.float64, 1e-14)):
        got = elementwise(function, x.astype(dtype), result=dtype)
        np.testing.assert_allclose(got, reference(x.astype(dtype).astype(np.float64)), rtol=tolerance, atol=tolerance)


def test_large_arguments_take_the_slow_path():
    x = np.array([1e5, 1e8, 1e15, 1e22, -1e22, 7.0])
    np.testing.assert_allclose(elementwise(math.sin, x, result=np.float64), np.sin(x), rtol=1e-13)
    y = x.astype(np.float32)
    np.testing.assert_allclose(elementwise(math.cos, y, result=np.float32), np.cos(y.astype(np.float64)), rtol=4e-7)


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint32, np.uint8, np.float32, np.float64])
def test_division_and_remainder_as_python_has_them(dtype):
    low = 0 if np.dtype(dtype).kind == "u" else -100
    a, b = RANDOM.integers(low, 100, 64).astype(dtype), RANDOM.integers(1, 9, 64).astype(dtype)
    b = (b * RANDOM.choice([1, -1] if low else [1], 64)).astype(dtype)
    assert (elementwise(lambda a, b: a // b, a, b, result=dtype) == a // b).all()
    assert (elementwise(lambda a, b: a % b, a, b, result=dtype) == a % b).all()


@pytest.mark.parametrize(
    "name", ["add", "subtract", "multiply", "divide", "negative", "less", "equal", "greater_equal"]
)
def test_float16_operators(name):
    functions = {
        "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
        "divide": lambda a, b: a / b, "negative": lambda a, b: -a, "less": lambda a, b: a < b,
        "equal": lambda a, b: a == b, "greater_equal": lambda a, b: a >= b,
    }  # fmt: skip
    a, b = RANDOM.integers(-9, 9, 64).astype(np.float16), RANDOM.integers(1, 9, 64).astype(np.float16)
    result = np.bool_ if name in ("less", "equal", "greater_equal") else np.float16
    assert (elementwise(functions[name], a, b, result=result) == functions[name](a, b)).all()


def test_bits_and_powers():
    x = RANDOM.integers(0, 2**31, 64).astype(np.int32)
    assert (elementwise(lambda x: cuda.popc(x), x, result=np.int32) == np.bitwise_count(x)).all()
    assert (elementwise(lambda x: cuda.clz(x), x, result=np.int32) == 32 - np.frexp(x.astype(float))[1]).all()
    y = RANDOM.uniform(0.5, 2, 64)
    np.testing.assert_allclose(
        elementwise(lambda y: y**3 + y**0.5 + 2.0**y, y, result=np.float64), y**3 + y**0.5 + 2**y
    )


def test_warp_functions():
    def kernel(x, y):
        i = cuda.grid(1)
        value = x[i]
        for step in (16, 8, 4, 2, 1):
            value += cuda.shfl_xor_sync(0xFFFFFFFF, value, step)
        up = cuda.shfl_up_sync(0xFFFFFFFF, x[i], 1)
        ballot = cuda.ballot_sync(0xFFFFFFFF, x[i] > 5)
        y[i, 0], y[i, 1], y[i, 2], y[i, 3] = value, up, ballot, cuda.laneid

    x = RANDOM.integers(0, 10, 64).astype(np.int64)
    y = np.zeros((64, 4), np.int64)
    assert emulate(kernel, 1, 64, x, y).clean
    assert (y[:, 0] == x.reshape(2, 32).sum(1).repeat(32)).all()
    assert (y[1:32, 1] == x[:31]).all() and (y[:, 3] == np.arange(64) % 32).all()
    flags = (x > 5).reshape(2, 32)
    expected = np.array([sum(1 << lane for lane in range(32) if row[lane]) for row in flags]).repeat(32)
    assert (y[:, 2] & 0xFFFFFFFF == expected).all()


def test_atomics():
    def kernel(x, sums, extremes):
        i = cuda.grid(1)
        if i < x.size:
            cuda.atomic.add(sums, i % 4, x[i])
            cuda.atomic.max(extremes, 0, x[i])
            cuda.atomic.min(extremes, 1, x[i])

    x = RANDOM.standard_normal(200)
    for dtype in (np.float32, np.float64):
        values, sums = x.astype(dtype), np.zeros(4, dtype)
        extremes = np.array([-np.inf, np.inf], dtype)
        assert emulate(kernel, 4, 64, values, sums, extremes).clean
        np.testing.assert_allclose(sums, [values[i::4].sum() for i in range(4)], rtol=1e-5)
        assert extremes.tolist() == [values.max(), values.min()]


def test_local_arrays_and_constants():
    table = np.arange(8, dtype=np.float32) ** 2

    def kernel(x, y):
        constants = cuda.const.array_like(table)
        own = cuda.local.array(8, float32)
        i = cuda.grid(1)
        for j in range(8):
            own[(j + i) % 8] = constants[j] + x[i]
        y[i] = own[i % 5]

    x = RANDOM.random(32, np.float32)
    y = np.zeros_like(x)
    assert emulate(kernel, 1, 32, x, y).clean
    i = np.arange(32)
    np.testing.assert_allclose(y, table[(i % 5 - i) % 8] + x)


def test_dynamic_and_static_shared_memory():
    report_input = RANDOM.random(64, np.float32)

    def kernel(x, y):
        dynamic = cuda.shared.array(0, float32)
        static = cuda.shared.array(64, int32)
        i = cuda.threadIdx.x
        dynamic[i], static[i] = x[i], i
        cuda.syncthreads()
        y[i] = dynamic[63 - i] + static[63 - i]

    y = np.zeros(64, np.float32)
    report = emulate(kernel, 1, 64, report_input, y, shared_bytes=256)
    assert report.clean
    np.testing.assert_allclose(y, report_input[::-1] + np.arange(64)[::-1])
    assert hazards.SHARED_BOUNDS in kinds(emulate(kernel, 1, 64, report_input, y, shared_bytes=128))


def test_scalars_orders_and_dispatchers():
    @cuda.jit
    def kernel(a, factor, offset, flag, out):
        i, j = cuda.grid(2)
        if i < a.shape[0] and j < a.shape[1]:
            out[i, j] = a[i, j] * factor + (offset if flag else 0)

    a = np.asfortranarray(RANDOM.random((20, 30)))
    out = np.zeros((20, 30), order="F")
    report = emulate(kernel, (2, 2), (16, 16), a, np.float32(2), 3, True, out)
    assert report.clean and report.outputs[1] is out
    np.testing.assert_allclose(out, a * 2 + 3)


def test_device_functions_keep_their_own_lines():
    @cuda.jit(device=True, lineinfo=True)
    def read(x, i):
        return x[i]

    def kernel(x, y):
        i = cuda.grid(1)
        y[i] = read(x, i + 1)

    (hazard,) = emulate(kernel, 1, 32, np.zeros(32, np.float32), np.zeros(32, np.float32)).hazards
    assert hazard.file == __file__ and "return x[i]" in Path(__file__).read_text().splitlines()[hazard.line - 1]
    assert hazard.lanes == (31,)


def test_float64_and_complex_arrays():
    def kernel(z, out):
        i = cuda.grid(1)
        out[i] = z[i] * z[i] + float64(1)

    z = RANDOM.random(32) + 1j * RANDOM.random(32)
    out = np.zeros_like(z)
    assert emulate(kernel, 1, 32, z, out).clean
    np.testing.assert_allclose(out, z * z + 1)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((np.zeros((8, 8))[::2, ::2],), "argument 0: shape .* is neither C- nor F-contiguous"),
        (([1.0, 2.0],), "argument 0 is a list"),
        (("text",), "argument 0 is a str"),
        ((np.array(["a"]),), "global memory holds numbers: the array has dtype <U1"),
        ((np.array([None]),), "global memory holds numbers: the array has dtype object"),
        ((np.zeros(4, ">f4"),), "the array has dtype >f4"),
    ],
)
def test_arguments_that_a_kernel_cannot_take(arguments, message):
    with pytest.raises(BadLaunch, match=message):
        emulate(lambda x: None, 1, 32, *arguments)


def increment(y, x, n):
    i = cuda.grid(1)
    if i < n:
        y[i] = x[i] + 1


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_given_twice_is_one_memory(order):
    def double(y, x):
        i, j = cuda.grid(2)
        y[i, j] = x[i, j] + 1

    a = np.zeros((8, 4), order=order)
    report = emulate(double, 1, (8, 4), a, a)
    assert report.clean and (a == 1).all() and all(output is a for output in report.outputs)


def test_a_view_of_the_same_elements_is_one_memory():
    a = np.zeros(64, np.float32)
    frozen = a[:]
    frozen.flags.writeable = False
    report = emulate(increment, 2, 32, a, frozen, 64)
    assert report.clean and (a == 1).all() and (report.outputs[1] == 1).all()


def test_neighbouring_parts_of_an_array_do_not_overlap():
    a = np.zeros(64, np.float32)
    assert emulate(increment, 1, 32, a[:32], a[32:], 32).clean
    assert a.tolist() == [1] * 32 + [0] * 32


@pytest.mark.parametrize("other", [lambda a: a[16:48], lambda a: a.view(np.int32), lambda a: a.reshape(8, 8)])
def test_arguments_that_overlap_in_part(other):
    a = np.zeros(64, np.float32)
    with pytest.raises(BadLaunch, match="arguments 0 and 2 overlap in memory"):
        emulate(lambda y, n, x: None, 1, 32, a, 64, other(a))


@pytest.mark.parametrize(
    "arguments, message",
    [((), r"increment\(y, x, n\) takes 3 arguments, 0 were given"), ((1, 2, 3, 4), "3 arguments, 4 were given"),
     ((1, 2, 2**64), "argument 2 is 0x10000000000000000: it fits neither int64 nor uint64"),
     ((1, -(2**63) - 1, 2), "argument 1 is -0x8000000000000001"), ((1, 10**5000, 2), "argument 1 is 0x")],
    ids=["none", "four", "2**64", "-2**63-1", "10**5000"],
)  # fmt: skip
def test_wrong_counts_and_integers_that_no_type_holds(arguments, message):
    with pytest.raises(BadLaunch, match=message):
        emulate(increment, 1, 32, *arguments)


@pytest.mark.parametrize("number, dtype", [(2**64 - 1, np.uint64), (-(2**63), np.int64)])
def test_the_largest_integers(number, dtype):
    def kernel(y, n):
        y[0] = n

    y = np.zeros(1, dtype)
    assert emulate(kernel, 1, 1, y, number).clean and int(y[0]) == number


@pytest.mark.parametrize("cc", [90, (9,), None, (5, 0), [9, 0], "sm_90"])
def test_unknown_compute_capabilities(cc):
    with pytest.raises(BadLaunch, match=r"cc is .*: it must be one of .*\(9, 0\)"):
        emulate(lambda: None, 1, 32, cc=cc)


@pytest.mark.parametrize("function", [None, 3, "kernel", math.sin, int])
def test_what_is_no_kernel(function):
    with pytest.raises(BadLaunch, match=f"a kernel is a Python function .*, not {type(function).__name__}"):
        emulate(function, 1, 32)


@pytest.mark.parametrize("shared_bytes", [-1, 1.5, None])
def test_shared_bytes_that_are_no_size(shared_bytes):
    with pytest.raises(BadLaunch, match="shared_bytes is"):
        emulate(increment, 1, 32, *np.zeros((2, 64), np.float32), 64, shared_bytes=shared_bytes)


def test_print_is_refused_by_its_name():
    def kernel(x):
        print("x is", x[0])

    line = kernel.__code__.co_firstlineno + 1
    with pytest.raises(UnknownInstruction, match=rf"{Path(__file__).name}:{line}: print\(\) is not emulated$"):
        emulate(kernel, 1, 32, np.zeros(1, np.float32))


def test_an_endless_loop_with_a_barrier_exceeds_its_budget():
    def kernel(x):
        while True:
            cuda.syncthreads()
            x[0] = 1

    with pytest.raises(BudgetExceeded, match="ran more than 5,000 instructions"):
        emulate(kernel, 1, 64, np.zeros(1, np.float32), budget=5000)


def test_a_fence_does_not_excuse_two_blocks_that_write_one_cell():
    def kernel(out):
        cuda.threadfence()
        if cuda.threadIdx.x == 0:
            out[0] = cuda.blockIdx.x

    report = emulate(kernel, 3, 32, np.zeros(1, np.int32))
    assert [hazard.kind for hazard in report.hazards] == [hazards.GLOBAL_WRITES]


@pytest.mark.parametrize("mode", ["warp", "block", "grid"])
@pytest.mark.parametrize("threads", [32, 33])
def test_stores_after_a_fence(threads, mode):
    def kernel(y):
        cuda.threadfence()
        y[cuda.grid(1)] = 1

    y = np.zeros(3 * threads, np.float32)
    assert emulate(kernel, 3, threads, y, mode=mode).clean and (y == 1).all()


@pytest.mark.parametrize("mode", ["warp", "block", "grid"])
@pytest.mark.parametrize("threads", [32, 33])
def test_the_last_block_sums_what_the_others_stored(threads, mode):
    """Store, fence, count: the block that counts last may read what all have stored."""

    def kernel(partial, counter, total):
        last = cuda.shared.array(1, int32)
        if cuda.threadIdx.x == 0:
            partial[cuda.blockIdx.x] = cuda.blockIdx.x + 1
            cuda.threadfence()
            last[0] = cuda.atomic.add(counter, 0, 1) == cuda.gridDim.x - 1
        cuda.syncthreads()
        if last[0] and cuda.threadIdx.x == 0:
            for block in range(cuda.gridDim.x):
                total[0] += partial[block]

    partial, counter, total = np.zeros(5, np.float32), np.zeros(1, np.int32), np.zeros(1, np.float32)
    assert emulate(kernel, 5, threads, partial, counter, total, mode=mode).clean
    assert total[0] == 15 and counter[0] == 5


def test_arrays_of_the_wrong_dtype_do_not_compile():
    from numba.core.errors import TypingError

    def kernel(x):
        x[0] = x[0] & 1

    with pytest.raises(TypingError):
        emulate(kernel, 1, 32, np.zeros(4, np.float32))


def test_grids_that_a_gpu_refuses():
    with pytest.raises(BadLaunch, match="grid"):
        emulate(plain.stencil(), 0, 32, np.zeros(4, np.float32), np.zeros(4, np.float32))


def test_the_readme_example_finds_a_missing_barrier():
    report = emulate(plain.transpose(barrier=False), (1, 1), (16, 16), *np.zeros((2, 16, 16), np.float32))
    assert kinds(report) == {hazards.READ_AFTER_WRITE}
