"""The GEMM that takes A in f32: right on every shape, without a hazard, and to the bit what a convert pass leads to."""

import re

import numpy as np
import pytest

from playground.compiler.arch import ARCHS
from playground.compiler.build import build
from playground.emulator.workspace import EmulatedWorkspace
from playground.errors import Refusal
from playground.kernels import af32, convert_gemm, gemm_f16_nt
from playground.kernels.gemm_f16_nt import GEMM_AF32_NT
from playground.measure import parity
from playground.measure.inputs import random_inputs
from playground.measure.references import REFERENCES
from playground.ptx.device_function import device_function
from playground.ptx.integer import urem

GEOMETRIES = [{"TM": 128, "KS": 32}, {"TM": 64, "KS": 96, "pad": 8, "warps": 4}]
RAGGED = [(1, 1, 8), (65, 130, 40), (70, 200, 136), (64, 64, 264)]


def problem(nt, od, id):
    return random_inputs(GEMM_AF32_NT, {"nt": nt, "od": od, "id": id}, seed=nt + od + id)


def emulated(kernel, inputs, arch="sm_90"):
    return EmulatedWorkspace(kernel.contract, inputs).run(build(kernel, ARCHS[arch]))


@pytest.mark.parametrize("AF32", ["sync", "mirror"])
@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_a_scheme_is_right_on_every_tail_and_without_a_hazard(AF32, geometry):
    """The source's integrated version "never closed" parity (seed 000, §3.3)."""
    for shape in RAGGED:
        inputs = problem(*shape)
        outcome = emulated(gemm_f16_nt(**geometry, AF32=AF32), inputs)
        gate = parity.check(outcome, REFERENCES["gemm_af32_nt"](inputs))
        assert (gate.passed, list(outcome.hazards)) == (True, []), (shape, str(gate))


def test_all_routes_lead_to_the_same_bits():
    """Rounded before or on the way, the same halves are multiplied in the same order."""
    inputs = problem(65, 130, 136)
    pass_before = emulated(convert_gemm(), inputs).outputs["C"]
    for AF32 in ("sync", "mirror"):
        assert np.array_equal(emulated(gemm_f16_nt(AF32=AF32), inputs).outputs["C"], pass_before)


def test_before_sm_80_a_is_rounded_by_the_conversions_that_there_are():
    inputs = problem(65, 130, 40)
    kernel = gemm_f16_nt(staging="sync", AF32="sync")
    outcome = emulated(kernel, inputs, "sm_75")
    assert parity.check(outcome, REFERENCES["gemm_af32_nt"](inputs)).passed
    assert outcome.hazards == []


def test_neither_scheme_adds_a_barrier_nor_reads_a_byte_twice():
    """512 elements of id are 16 steps of 32, with one barrier each, in 2 × 2 blocks: each reads its half of A whole."""
    inputs = problem(128, 256, 512)
    f16 = random_inputs(gemm_f16_nt().contract, {"nt": 128, "od": 256, "id": 512}, seed=1)
    counts = {AF32: emulated(gemm_f16_nt(AF32=AF32), inputs).counts for AF32 in ("sync", "mirror")}
    plain = emulated(gemm_f16_nt(), f16).counts
    assert [each["barriers"] for each in (plain, *counts.values())] == [2 * 2 * 16] * 3
    assert counts["sync"]["global_load_bytes"] == 2 * 128 * 512 * 4
    added = counts["mirror"]["global_cp_async_sectors"] - plain["global_cp_async_sectors"]
    assert added == 2 * 128 * 512 * (4 - 2) // 32


@pytest.mark.parametrize(
    ("AF32", "KS", "warps", "bytes"),
    [
        ("sync", 32, 8, 32_768),
        ("mirror", 32, 8, 32_768),  # 8 KB of mirror, where the 8 warps' 8 KB of fragments go at the end
        ("mirror", 64, 8, 65_536),  # 48 KB of tiles, 16 KB of mirror
        ("mirror", 32, 16, 40_960),  # 24 KB of tiles, 16 KB of fragments
    ],
)
def test_the_fragments_take_the_mirrors_place_when_the_loop_is_over(AF32, KS, warps, bytes):
    assert gemm_f16_nt(TM=128, KS=KS, warps=warps, AF32=AF32).layout.bytes == bytes


def test_a_thread_that_rounds_what_another_copied_is_a_race(monkeypatch):
    """Why it may stand before the barrier: a thread waits for its own copies, and for nobody else's."""
    chunks_of = af32.chunks_of

    def of_the_next_warp(rows, columns, chunk, threads):
        turns, mine = chunks_of(rows, columns, chunk, threads)

        @device_function
        def others(turn):
            row, column, there = mine(turn)
            return urem(row + 4, rows), column, there  # a warp holds 4 rows of 8 chunks

        return turns, others

    monkeypatch.setattr(af32, "chunks_of", of_the_next_warp)
    outcome = emulated(gemm_f16_nt(AF32="mirror"), problem(64, 128, 64))
    assert outcome.hazards
    assert {hazard["file"] for hazard in outcome.hazards} >= {"playground/kernels/af32.py"}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"AF32": "mirrored"}, "AF32 = 'mirrored' is not one of none, sync, mirror"),
        ({"AF32": True}, "AF32 = True is not one of none, sync, mirror"),
        ({"AF32": "mirror", "staging": "sync"}, "AF32 = mirror is filled by cp.async, which staging = sync does"),
    ],
)
def test_what_is_no_scheme_is_refused(parameters, message):
    with pytest.raises(Refusal, match=re.escape(message)):
        gemm_f16_nt(**parameters)


def test_a_kernel_without_a_scheme_keeps_its_name():
    assert str(gemm_f16_nt()) == "gemm_f16_nt(TM=128, KS=32, warps=8, pad=0, staging=async)"
    assert str(gemm_f16_nt(AF32="sync")).endswith("staging=async, AF32=sync)")


@pytest.mark.parametrize(
    ("A", "message"),
    [
        (np.ones((3, 16), np.float16), "A is float16, not float32"),
        (np.ones((3, 12), np.float32), "id = 12 is not a multiple of 8"),
        (np.ones((16, 3), np.float32).T, "A is not contiguous: its strides are (4, 12) bytes"),
        (np.ones((3, 32), np.float32)[:, ::2], "A is not contiguous: its strides are (128, 8) bytes"),
    ],
    ids=["f16", "id", "transposed", "every second"],
)
def test_an_a_that_cannot_be_staged_is_refused(A, message):
    with pytest.raises(Refusal, match=re.escape(message)):
        GEMM_AF32_NT.dimensions_of({"A": A, "B": np.ones((5, A.shape[1]), np.float16)})


def test_an_address_that_16_bytes_cannot_be_copied_from_is_refused():
    for kernel in (gemm_f16_nt(), gemm_f16_nt(AF32="sync"), gemm_f16_nt(AF32="mirror")):
        kernel.check_addresses([4096, 8192, 12_292])
        with pytest.raises(Refusal, match="B is at 0x2008, which is not a multiple of 16 bytes"):
            kernel.check_addresses([4096, 8200, 12_288])
