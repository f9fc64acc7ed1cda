"""Device functions: inlined whole, constants not shared between closures, lines those of the Python source."""

import re
from pathlib import Path

from numba import cuda
from numba.cuda.types import int32, int64

from playground.ptx import cp_async
from playground.ptx.device_function import device_function


def copier(count, stride):
    @device_function
    def copy(destination, source):
        for piece in range(count):
            cp_async.copy_16(destination + piece * stride, source + piece * stride, 16)  # line of the callee

    def kernel(destination, source):
        copy(destination, source)
        cp_async.commit()  # line of the kernel

    return kernel


def lines_of(ptx, statement):
    """The source lines of every `statement` in the PTX, by its last .loc and the .file table."""
    files = dict(re.findall(r'\.file\s+(\d+) "([^"]+)"', ptx))
    found, here = [], None
    for line in ptx.splitlines():
        if location := re.match(r"\s*\.loc\s+(\d+) (\d+)", line):
            here = location.groups()
        elif line.strip().startswith(statement):
            file, number = here
            found.append(Path(files[file]).read_text().splitlines()[int(number) - 1])
    return found


def test_a_device_function_is_inlined(ptx_of):
    ptx = ptx_of(copier(2, 64), int32, int64)
    assert ptx.count("cp.async.cg") == 2
    assert "call" not in ptx
    assert ".func" not in ptx


def test_an_instruction_maps_to_its_python_line_in_kernel_and_device_function(ptx_of):
    ptx = ptx_of(copier(2, 64), int32, int64)
    copies, commits = lines_of(ptx, "cp.async.cg"), lines_of(ptx, "cp.async.commit_group")
    assert len(copies) == 2
    assert all(line.endswith("# line of the callee") for line in copies)
    assert len(commits) == 1
    assert commits[0].endswith("# line of the kernel")


def test_two_closures_of_one_source_keep_their_own_constants(ptx_of):
    narrow, wide = (ptx_of(copier(count, 48 * count), int32, int64) for count in (2, 3))
    assert (narrow.count("cp.async.cg"), wide.count("cp.async.cg")) == (2, 3)
    assert re.search(r"add\.s64\s+%rd\d+, %rd\d+, 96;", narrow)
    assert re.search(r"add\.s64\s+%rd\d+, %rd\d+, 144;", wide)
    assert not re.search(r", 96;", wide)


def test_a_thread_index_reaches_the_device_function(ptx_of):
    @device_function
    def copy(destination, source):
        cp_async.copy_16(destination + cuda.threadIdx.x * 16, source, 16)

    def kernel(destination, source):
        copy(destination, source)

    assert "%tid.x" in ptx_of(kernel, int32, int64)
