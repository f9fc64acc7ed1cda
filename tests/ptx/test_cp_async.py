"""cp.async: the statements of the PTX ISA (§ "cp.async", "cp.async.commit_group", "cp.async.wait_group")."""

import re

import pytest
from numba.core.errors import TypingError
from numba.cuda.types import int32, int64

from playground.ptx import cp_async


def statements(ptx):
    return [line.strip() for line in ptx.splitlines() if line.strip().startswith("cp.async")]


def test_a_copy_moves_16_bytes_past_l1_with_the_source_size_as_an_operand(ptx_of):
    def kernel(destination, source, source_bytes):
        cp_async.copy_16(destination, source, source_bytes)

    (copy,) = statements(ptx_of(kernel, int32, int64, int32))
    assert re.fullmatch(r"cp\.async\.cg\.shared\.global \[%r\d+\], \[%rd\d+\], 16, %r\d+;", copy)


def test_64_bit_index_arithmetic_is_narrowed_to_a_shared_address(ptx_of):
    def kernel(destination, source, row):
        cp_async.copy_16(destination + row * 64, source + row * 64, 16)

    (copy,) = statements(ptx_of(kernel, int64, int64, int64))
    assert re.fullmatch(r"cp\.async\.cg\.shared\.global \[%r\d+\], \[%rd\d+\], 16, %r\d+;", copy)


@pytest.mark.parametrize("pending", [0, 1, 3])
def test_a_wait_names_how_many_groups_may_be_in_flight_as_a_literal(ptx_of, pending):
    def kernel(destination, source):
        cp_async.copy_16(destination, source, 16)
        cp_async.commit()
        cp_async.wait_group(pending)

    _, commit, wait = statements(ptx_of(kernel, int32, int64))
    assert (commit, wait) == ("cp.async.commit_group;", f"cp.async.wait_group {pending};")


def test_the_compiler_keeps_the_order_of_copies_commits_and_waits(ptx_of):
    def kernel(destination, source):
        cp_async.copy_16(destination, source, 16)
        cp_async.commit()
        cp_async.copy_16(destination + 16, source + 16, 16)
        cp_async.commit()
        cp_async.wait_group(1)
        cp_async.wait_group(0)

    kinds = [statement.split()[0].rstrip(";") for statement in statements(ptx_of(kernel, int32, int64))]
    copy, commit, wait = "cp.async.cg.shared.global", "cp.async.commit_group", "cp.async.wait_group"
    assert kinds == [copy, commit, copy, commit, wait, wait]


def test_a_wait_for_a_number_known_only_at_run_time_is_refused(ptx_of):
    def kernel(pending):
        cp_async.wait_group(pending)

    with pytest.raises(TypingError, match="wait_group: pending must be a compile-time constant, got int32"):
        ptx_of(kernel, int32)
