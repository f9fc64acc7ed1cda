"""The device at hand: limits, memory with guards, programs, and refusals before any launch."""

from dataclasses import replace

import numpy as np
import pytest

from playground.compiler.arch import ARCHS
from playground.compiler.build import build
from playground.errors import Refusal
from playground.kernels import gemm_f16_nt, pinned
from playground.kernels.l2_sweep import l2_sweep
from playground.kernels.layout import Region, SharedLayout

pytestmark = pytest.mark.gpu


def test_the_limits_that_the_driver_tells_are_those_of_the_table(device):
    known = ARCHS.get(device.arch.name)
    if known is None:
        pytest.skip(f"{device.arch.name} is not in the table")
    assert device.arch == known


@pytest.fixture
def buffer(device):
    from playground.gpu.buffer import Buffer

    made = Buffer(device, (100,), "float32")
    yield made
    made.free()


def test_a_fresh_buffer_is_nan(buffer):
    assert np.isnan(buffer.download()).all()


def test_an_upload_comes_back_and_leaves_the_guards(buffer):
    values = np.arange(100, dtype=np.float32)
    buffer.upload(values)
    assert np.array_equal(buffer.download(), values)
    assert buffer.overrun() == 0


@pytest.mark.parametrize("offset", [-3, -4096, 400, 400 + 4096 - 3])
def test_bytes_written_outside_an_array_are_counted(device, buffer, offset):
    from cuda.bindings import driver

    from playground.gpu.driver import call

    call(driver.cuMemsetD8Async, buffer.address + offset, 0, 3, device.stream)
    assert buffer.overrun() == 3


def test_an_array_larger_than_the_memory_is_refused_with_both_sizes(device):
    from playground.gpu.buffer import Buffer

    with pytest.raises(Refusal, match=r"8,796,093,030,400 bytes needed .* are free"):  # 2⁴³ and two guards
        Buffer(device, (2**41,), "float32")


def test_a_failed_driver_call_names_the_call_and_the_error(device):
    from cuda.bindings import driver

    from playground.gpu.driver import DriverError, call

    with pytest.raises(DriverError, match="cuModuleLoadData: CUDA_ERROR_"):
        call(driver.cuModuleLoadData, b"no cubin at all" + bytes(64))


@pytest.mark.parametrize(
    "parameters",
    [
        {"TM": 64},
        {"TM": 128},
        {"TM": 128, "KS": 64},
        {"TM": 256, "warps": 16},
        {"TM": 256, "warps": 8},
        {"TM": 128, "pad": 8},
    ],
    ids=str,
)
def test_the_ledgers_blocks_per_sm_are_the_drivers(device, parameters):
    from playground.gpu.program import Program

    made = build(gemm_f16_nt(**parameters), device.arch)
    assert made.ledger.blocks_per_sm == Program(made, device).resident_blocks()


def test_blocks_per_sm_are_the_drivers_for_every_shared_size_and_thread_count(device):
    from playground.compiler.arch import residency
    from playground.gpu.program import Program

    made = build(l2_sweep(), device.arch)
    differing = {}
    sizes = (0, 1, 1000, 8192, 24_576, 32_768, 34_816, 49_152, 49_153, 57_344, 76_672, device.arch.shared_per_block)
    for threads in (32, 64, 96, 160, 192, 256, 384, 512):
        for shared in sizes:
            kernel = replace(made.kernel, threads=threads, layout=SharedLayout(Region("unused", (shared,), 1)))
            if kernel.layout.bytes > device.arch.shared_per_block:
                continue
            ours = residency(device.arch, threads, made.ledger.registers, kernel.layout.bytes).blocks
            ledger = replace(made.ledger, dynamic_shared=kernel.layout.bytes)
            theirs = Program(replace(made, kernel=kernel, ledger=ledger), device).resident_blocks()
            if ours != theirs:
                differing[threads, shared] = (ours, theirs)
    assert differing == {}


def test_pinned_blocks_per_sm_are_the_drivers(device):
    from playground.gpu.program import Program

    for blocks in (1, 2):
        made = build(pinned(gemm_f16_nt(TM=64), blocks), device.arch)
        assert Program(made, device).resident_blocks() == made.ledger.blocks_per_sm == blocks


def test_the_driver_counts_the_ledgers_registers_and_local_bytes(device):
    from cuda.bindings import driver

    from playground.gpu.driver import call
    from playground.gpu.program import FUNCTION_ATTRIBUTE, Program

    made = build(gemm_f16_nt(TM=256, warps=8), device.arch)
    function = Program(made, device).function
    registers = call(driver.cuFuncGetAttribute, FUNCTION_ATTRIBUTE.CU_FUNC_ATTRIBUTE_NUM_REGS, function)
    local = call(driver.cuFuncGetAttribute, FUNCTION_ATTRIBUTE.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function)
    assert (registers, local) == (made.ledger.registers, made.ledger.local)


def test_dynamic_shared_memory_beyond_48_kib_is_opted_in(device, gemm_on):
    kernel = gemm_f16_nt(TM=256, KS=64, warps=8)
    assert kernel.layout.bytes > 48 * 1024
    workspace, _ = gemm_on(64, 256, 72)
    assert np.isfinite(workspace.run(build(kernel, device.arch)).outputs["C"]).all()


def test_a_kernel_over_the_devices_limit_is_refused_before_launch(device):
    kernel = gemm_f16_nt(TM=512, KS=256, warps=16)
    needed, limit = f"{kernel.layout.bytes:,}", f"{device.arch.shared_per_block:,}"
    assert kernel.layout.bytes > device.arch.shared_per_block
    with pytest.raises(Refusal, match=rf"needs {needed} bytes of shared memory per block: .* has {limit}"):
        build(kernel, device.arch)
