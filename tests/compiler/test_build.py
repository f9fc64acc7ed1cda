"""Builds of every GEMM variant, for any architecture and without a GPU: what the ledger must say of them."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from numba import cuda
from numba.cuda.types import float32

import playground.kernels
from playground.compiler import ledger, nvjitlink, sass
from playground.compiler.arch import ARCHS, GPUS, residency
from playground.compiler.build import build
from playground.errors import Refusal
from playground.kernels import gemm_f16_nt
from playground.kernels.l2_sweep import l2_sweep
from playground.kernels.layout import Region, SharedLayout
from playground.ptx.memory import store_global_f32

PROBED = [
    {"TM": 64, "KS": 32},
    {"TM": 128, "KS": 32},
    {"TM": 128, "KS": 64},
    {"TM": 256, "KS": 32, "warps": 16},
    {"TM": 256, "KS": 32, "warps": 8},
]
OTHERS = [
    {"TM": 64, "KS": 96, "pad": 8},
    {"TM": 128, "KS": 32, "warps": 16},
    {"TM": 128, "KS": 96, "pad": 8},
    {"TM": 256, "KS": 64, "warps": 8, "pad": 8},
]
BUILDS = [
    pytest.param(parameters, arch, id=f"{arch}-" + "-".join(f"{name}{value}" for name, value in parameters.items()))
    for parameters in PROBED + OTHERS
    for arch in ("sm_80", "sm_90", "sm_121")
]


@pytest.fixture(scope="module")
def small():
    """A kernel that compiles quickly, on sm_90."""
    return build(l2_sweep(), ARCHS["sm_90"])


@pytest.mark.parametrize(("parameters", "arch"), BUILDS)
def test_every_variant_of_the_gemm_keeps_its_fragments_in_registers_and_runs_on_tensor_cores(parameters, arch):
    kernel = gemm_f16_nt(**parameters)
    made = build(kernel, ARCHS[arch])
    ledger = made.ledger
    assert (ledger.spill_stores, ledger.spill_loads, ledger.stack, ledger.local) == (0, 0, 0, 0)
    assert (ledger.threads, ledger.static_shared, ledger.dynamic_shared) == (kernel.threads, 0, kernel.layout.bytes)
    assert ledger.registers <= 65536 // kernel.threads
    accumulators = 64 * kernel.parameters["TM"] // kernel.threads
    assert ledger.registers > accumulators  # each thread holds its share of the tile, in f32

    products = made.ptx.count("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32")
    copies = made.ptx.count("cp.async.cg.shared.global")
    assert products > 0
    assert copies > 0
    fragments_per_warp = accumulators * 32 // 256
    # More stores than fragments: a copy on either side of a branch, where half a warp executes it.
    assert 0 < made.ptx.count("wmma.store.d.sync.aligned") <= fragments_per_warp
    if ledger.instruction_mix is not None:
        # An m16n16k16 product is two m16n8k16 instructions.
        assert ledger.instruction_mix["HMMA.16816.F32"] >= 2 * products
        assert ledger.instruction_mix["LDGSTS.E.BYPASS.128"] >= copies
        assert not any(opcode.startswith(("STL", "LDL")) for opcode in ledger.instruction_mix)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_121"])
def test_the_registers_are_those_that_the_cubin_itself_declares(arch, elf):
    made = build(gemm_f16_nt(TM=128, KS=32), ARCHS[arch])
    assert made.ledger.registers == elf(made.cubin).registers()


def test_the_seeds_ledger_of_gb10():
    """Seed 000, §3.3: resident blocks shrink where shared memory grows from 32 to 56 KB."""
    ledgers = {KS: build(gemm_f16_nt(TM=128, KS=KS), GPUS["GB10"].arch).ledger for KS in (32, 64)}
    assert ledgers[32].registers <= 80
    assert {KS: ledger.blocks_per_sm for KS, ledger in ledgers.items()} == {32: 3, 64: 1}
    assert {ledger.limiter for ledger in ledgers.values()} == {"shared memory"}


def test_a_ledger_counts_blocks_by_its_own_registers_threads_and_shared_memory():
    ledger = build(gemm_f16_nt(TM=256, KS=32, warps=8), ARCHS["sm_80"]).ledger
    expected = residency(ARCHS["sm_80"], ledger.threads, ledger.registers, ledger.static_shared + ledger.dynamic_shared)
    assert (ledger.blocks_per_sm, ledger.limiter) == (expected.blocks, expected.limiter)


def test_a_kernel_that_must_spill_is_seen_to_spill():
    """1,024 threads leave 64 registers; 64 × 256 outputs over 8 warps want 64 for the accumulators alone."""
    kernel = replace(gemm_f16_nt(TM=256, KS=32, warps=8), threads=1024)
    ledger = build(kernel, ARCHS["sm_90"]).ledger
    assert ledger.registers <= 64
    assert ledger.spill_stores > 0
    assert ledger.spill_loads > 0
    assert ledger.stack > 0


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_121"])
def test_static_shared_memory_is_what_the_kernel_declares_without_the_systems_own(arch):
    def kernel(x, sink, n):
        tile = cuda.shared.array(1000, float32)
        tile[cuda.threadIdx.x] = n
        cuda.syncthreads()
        store_global_f32(sink, tile[n])

    ledger = build(replace(l2_sweep(), function=kernel), ARCHS[arch]).ledger
    assert (ledger.static_shared, ledger.dynamic_shared) == (4000, 0)


def test_the_ptx_is_for_the_architecture_and_bounds_the_threads(small):
    assert re.search(r"\.target sm_90\b", small.ptx)
    assert re.search(r"\.maxntid 512, 1, 1", small.ptx)


def test_the_entry_is_the_kernels_name_in_ptx_and_cubin(small, elf):
    assert small.entry == "l2_sweep"
    assert re.search(r"\.visible \.entry l2_sweep\(", small.ptx)
    assert ".text.l2_sweep" in elf(small.cubin).sections


def test_dynamic_shared_memory_is_declared_as_aligned_as_its_layout_assumes():
    """PTX ISA: cp.async needs 16 bytes and wmma.load 32; the layout's offsets are multiples of 128."""
    ptx = build(gemm_f16_nt(TM=128, KS=32), ARCHS["sm_90"]).ptx
    (alignment,) = re.findall(r"\.extern \.shared \.align (\d+)", ptx)
    assert int(alignment) >= 32


def test_lines_of_the_gemm_map_to_its_python_source():
    """A product to the line of `multiply`, a copy to the line of the staging: through inlined device functions."""
    ptx = build(gemm_f16_nt(TM=128, KS=32), ARCHS["sm_90"]).ptx
    files = dict(re.findall(r'\.file\s+(\d+) "([^"]+)"', ptx))
    here, lines = None, {"wmma.mma": set(), "cp.async.cg": set()}
    for line in ptx.splitlines():
        if location := re.match(r"\s*\.loc\s+(\d+) (\d+)", line):
            here = Path(files[location.group(1)]), int(location.group(2))
        for statement, found in lines.items():
            if line.strip().startswith(statement):
                found.add(here)
    folder = Path(playground.kernels.__file__).parent
    ((product_file, product_line),) = lines["wmma.mma"]
    assert product_file == folder / "gemm_f16_nt.py"
    assert "mma_row_col(" in product_file.read_text().splitlines()[product_line - 1]
    assert {file for file, _ in lines["cp.async.cg"]} == {folder / "staging.py"}


def test_shared_memory_over_the_limit_of_the_named_architecture_is_refused_with_both_numbers():
    kernel = gemm_f16_nt(TM=192, KS=96)
    with pytest.raises(Refusal) as refused:
        build(kernel, GPUS["GB10"].arch)
    message = str(refused.value)
    assert "106,496" in message
    assert "101,376" in message
    assert "sm_121" in message
    assert "\n" not in message


def test_a_kernel_that_fits_exactly_is_built():
    """227 KiB on H200, to the byte."""
    whole = SharedLayout(Region("all", (232_448,), 1))
    made = build(replace(l2_sweep(), layout=whole), GPUS["H200"].arch)
    assert (made.ledger.dynamic_shared, made.ledger.blocks_per_sm) == (232_448, 1)


def test_instructions_that_the_architecture_lacks_are_refused():
    with pytest.raises(Refusal, match=r"needs sm_80 or later: sm_75"):
        build(gemm_f16_nt(), GPUS["T4"].arch)


def test_more_threads_than_a_block_takes_are_refused():
    with pytest.raises(Refusal, match=r"1056 threads.*1024"):
        build(replace(l2_sweep(), threads=1056), ARCHS["sm_90"])


def test_a_kernel_without_cp_async_builds_for_sm_75():
    assert build(l2_sweep(), GPUS["T4"].arch).ledger.arch == "sm_75"


def test_ptx_that_the_linker_cannot_take_is_refused_in_one_line():
    with pytest.raises(Refusal, match="sm_90: nvJitLink refused the PTX") as refused:
        nvjitlink.link(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry broken() { nonsense; }", "sm_90")
    assert "\n" not in str(refused.value)


@pytest.mark.gpu
def test_ptx_linked_again_has_its_whole_log(device, small):
    """Where there is a driver, from whose cache PTX seen before may come, with a log that lacks what ptxas reported."""
    logs = [nvjitlink.link(small.ptx, small.arch.name)[1] for _ in range(2)]
    assert all("bytes stack frame" in log for log in logs)


def test_a_log_without_what_ptxas_reports_is_refused_in_one_line(small):
    with pytest.raises(Refusal, match=r"does not report '.* registers': 'info : 16 bytes gmem'"):
        ledger.read(small.kernel, small.arch, small.ptx, "info    : 16 bytes gmem", small.ledger.instruction_mix)


def test_every_instruction_of_a_listing_is_counted_once(small, elf):
    mix = small.ledger.instruction_mix
    if mix is None:
        pytest.skip("nvdisasm was not found (pip install nvidia-cuda-nvdisasm)")
    assert mix == sass.instruction_mix(small.cubin)
    instructions = len(elf(small.cubin).section(".text.l2_sweep")) // 16  # sm_70 and later: 128 bits each
    assert sum(mix.values()) == instructions
    assert list(mix.values()) == sorted(mix.values(), reverse=True)
    assert mix["EXIT"] >= 1
