"""Builds on disk: found again, never mistaken for another, and no harm if the folder or an entry is bad."""

import json
from dataclasses import replace
from types import ModuleType

import pytest

from playground.compiler import cache
from playground.compiler.arch import ARCHS
from playground.compiler.build import build
from playground.kernels import gemm_f16_nt
from playground.kernels.l2_sweep import l2_sweep
from playground.kernels.layout import Region, SharedLayout
from playground.ptx.device_function import device_function

SM_90 = ARCHS["sm_90"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache."""
    monkeypatch.setenv("PLAYGROUND_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def no_compiler(monkeypatch):
    """From here on, to compile is an error."""

    def stop():
        def refuse(*_):
            raise AssertionError("compiled again")

        monkeypatch.setattr("playground.compiler.numba_ptx.to_ptx", refuse)

    return stop


def test_a_second_build_does_not_compile(folder, no_compiler):
    first = build(l2_sweep(), SM_90)
    no_compiler()
    second = build(l2_sweep(), SM_90)
    for part in ("ptx", "cubin", "ledger", "entry"):
        assert getattr(second, part) == getattr(first, part)


def test_another_architecture_is_compiled(folder, no_compiler):
    build(l2_sweep(), SM_90)
    no_compiler()
    with pytest.raises(AssertionError, match="compiled again"):
        build(l2_sweep(), ARCHS["sm_80"])


@pytest.mark.parametrize("content", [b"", b"{", b'{"ptx": "', b"\0\0\0\0", b"no JSON", b"\xff\xfe\x80"])
def test_an_entry_that_cannot_be_read_is_built_again(folder, content):
    first = build(l2_sweep(), SM_90)
    (entry,) = folder.glob("*.json")
    entry.write_bytes(content)
    again = build(l2_sweep(), SM_90)
    assert again.cubin.startswith(b"\x7fELF")
    assert again.ledger == first.ledger
    assert json.loads(entry.read_text())["entry"]["ptx"] == again.ptx


def test_an_entry_that_was_changed_is_built_again(folder):
    """Another load in the PTX is valid JSON, and another program."""
    build(l2_sweep(), SM_90)
    (entry,) = folder.glob("*.json")
    entry.write_text(entry.read_text().replace("ld.global.f32", "ld.global.cg.f32"))
    assert "ld.global.cg" not in build(l2_sweep(), SM_90).ptx


def test_no_half_written_entry_is_left(folder):
    build(l2_sweep(), SM_90)
    assert [path.suffix for path in folder.iterdir()] == [".json"]


def test_a_folder_that_cannot_be_made_means_only_that_nothing_is_kept(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("PLAYGROUND_CACHE", str(tmp_path / "file" / "cache"))
    assert build(l2_sweep(), SM_90).ledger.registers > 0


def key(function):
    return cache.key(function)


def adder(n):
    def add(x):
        return x + n

    return add


def test_a_key_depends_on_the_constants_that_a_function_closes_over():
    assert key(adder(1)) == key(adder(1))
    assert key(adder(1)) != key(adder(2))


def test_a_key_depends_on_the_constants_of_the_device_functions_that_are_called():
    def caller(n):
        inner = device_function(adder(n))

        def outer(x):
            return inner(x)

        return outer

    assert key(caller(1)) == key(caller(1))
    assert key(caller(1)) != key(caller(2))


def test_equal_numbers_of_different_types_are_different_constants():
    assert key(adder(1)) != key(adder(1.0))


@pytest.mark.parametrize("change", [{"TM": 64}, {"KS": 64}, {"warps": 16}, {"pad": 8}])
def test_a_key_depends_on_every_parameter_of_the_gemm(change):
    assert key(gemm_f16_nt().function) == key(gemm_f16_nt().function)
    assert key(gemm_f16_nt(**change).function) != key(gemm_f16_nt().function)


def written(text, name="kernel", **scope):
    """The function `name` of a source text; all texts pretend to be the same file."""
    exec(compile(text, "probe.py", "exec"), scope)
    return scope[name]


EDITS = {
    "a constant": ("def kernel(x):\n return x + 1", "def kernel(x):\n return x + 2"),
    "an operation": ("def kernel(x):\n return x + 1", "def kernel(x):\n return x - 1"),
    "a name": ("def kernel(x):\n return min(x, 1)", "def kernel(x):\n return max(x, 1)"),
    "a global constant": ("N = 1\ndef kernel(x):\n return x + N", "N = 2\ndef kernel(x):\n return x + N"),
    "a function called": (
        "f = lambda x: x + 1\ndef kernel(x):\n return f(x)",
        "f = lambda x: x + 2\ndef kernel(x):\n return f(x)",
    ),
    "a nested function": (
        "def kernel(x):\n def f(y):\n  return y + 1\n return f(x)",
        "def kernel(x):\n def f(y):\n  return y + 2\n return f(x)",
    ),
    "a default": ("def kernel(x, n=1):\n return x + n", "def kernel(x, n=2):\n return x + n"),
    "a keyword default": ("def kernel(x, *, n=1):\n return x + n", "def kernel(x, *, n=2):\n return x + n"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_key_changes_with_an_edit_of(edit):
    before, after = EDITS[edit]
    assert key(written(before)) == key(written(before))
    assert key(written(before)) != key(written(after))


def test_a_key_changes_with_an_edit_of_a_function_reached_through_its_module():
    def using(n):
        helpers = ModuleType("helpers")
        exec(compile(f"def f(x):\n return x + {n}", "helpers.py", "exec"), vars(helpers))
        return written("def kernel(x):\n return helpers.f(x)", helpers=helpers)

    assert key(using(1)) == key(using(1))
    assert key(using(1)) != key(using(2))


def test_a_build_depends_on_threads_and_on_dynamic_shared_memory(folder, no_compiler):
    build(l2_sweep(), SM_90)
    no_compiler()
    for change in ({"threads": 256}, {"layout": SharedLayout(Region("x", (128,), 1))}):
        with pytest.raises(AssertionError, match="compiled again"):
            build(replace(l2_sweep(), **change), SM_90)
