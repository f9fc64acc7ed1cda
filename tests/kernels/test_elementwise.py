"""The elementwise kernels, emulated: every length right to the last element, no hazard, wide accesses where wanted."""

import re

import numpy as np
import pytest

from playground.__main__ import main
from playground.compiler.arch import arch_named
from playground.compiler.build import build
from playground.emulator.workspace import EmulatedWorkspace
from playground.errors import Refusal
from playground.kernels import add_bias, convert_f32_f16, embedding, rms_norm, rope, store_kv_f16, swiglu
from playground.measure import parity
from playground.measure.inputs import random_inputs
from playground.measure.references import REFERENCES

H200 = arch_named("H200")
FLAT = [convert_f32_f16(1), convert_f32_f16(4), convert_f32_f16(8), swiglu(1), swiglu(4)]
ROWS = [rms_norm("f32"), rms_norm("f16"), rope(64), rope(128), add_bias(), embedding()]
STORES = [*(store_kv_f16(per_lane) for per_lane in (1, 4, 8)), *(store_kv_f16(each, "flat") for each in (1, 4, 8))]
KERNELS = [*FLAT, *STORES, *ROWS]
LENGTHS = [1, 7, 8, 9, 255, 1000, 2047]


def emulated(kernel, inputs):
    return EmulatedWorkspace(kernel.contract, inputs).run(build(kernel, H200))


def failures(kernel, all_dims, run=emulated):
    """What went wrong, per shape."""
    failed = {}
    for lengths in all_dims:
        dims = dict(zip(kernel.contract.dimensions, lengths))
        inputs = random_inputs(kernel.contract, dims, seed=sum(lengths))
        outcome = run(kernel, inputs)
        gate = parity.check(outcome, REFERENCES[kernel.contract.name](inputs))
        if not gate.passed or outcome.hazards:
            failed[lengths] = str(gate), list(outcome.hazards)
    return failed


@pytest.mark.parametrize("kernel", FLAT, ids=str)
def test_any_length_is_right_to_the_last_element(kernel):
    assert failures(kernel, [(n,) for n in LENGTHS]) == {}


@pytest.mark.parametrize("kernel", STORES, ids=str)
def test_any_row_length_is_stored_and_other_rows_stay(kernel):
    """Not a multiple of 4: rows then begin where no 16-byte access may, which the emulator would report."""
    assert failures(kernel, [(4, nkt, 7) for nkt in (1, 3, 4, 130, 516, 520, 1001)] + [(1, 8, 1), (3, 512, 3)]) == {}


@pytest.mark.parametrize(
    ("kernel", "dims"),
    [
        *((rms_norm(out), [(1, 1), (2, 31), (3, 257), (2, 1000)]) for out in ("f32", "f16")),
        *((rope(hd), [(1, 1), (3, 5), (2, 28)]) for hd in (64, 128)),
        (add_bias(), [(1, 1), (2, 257), (3, 512)]),
        (embedding(), [(1, 1, 1), (5, 257, 3), (3, 512, 40)]),
    ],
    ids=str,
)
def test_any_number_and_length_of_rows_is_right(kernel, dims):
    assert failures(kernel, dims) == {}


@pytest.mark.parametrize("kernel", [convert_f32_f16(8), swiglu(4)], ids=str)
def test_a_view_that_is_not_aligned_is_computed_as_its_aligned_copy(kernel):
    """A runner copies arrays to memory of its own: where they lay before does not matter."""
    inputs = random_inputs(kernel.contract, {"n": 100}, seed=1)
    moved = {}
    for name, array in inputs.items():
        storage = np.zeros(array.nbytes + 1, np.uint8)
        storage[1:] = array.view(np.uint8)
        moved[name] = storage[1:].view(array.dtype)
        assert not moved[name].flags.aligned
    ours, theirs = (next(iter(emulated(kernel, given).outputs.values())) for given in (inputs, moved))
    assert np.array_equal(ours, theirs)


def test_rope_leaves_position_0_as_it_is():
    inputs = random_inputs(rope().contract, {"nt": 2, "nh": 3}, seed=1) | {"positions": np.array([0, 9], np.int32)}
    Y = emulated(rope(), inputs).outputs["Y"]
    assert np.array_equal(Y[0], inputs["X"][0])
    assert not np.array_equal(Y[1], inputs["X"][1])


# ----------------------------------------------------------------------------------------------- how memory is accessed


@pytest.mark.parametrize(
    ("kernel", "loads", "stores", "sectors_per_access"),
    [
        (convert_f32_f16(1), 1, 1, 3),  # the source: "a 32 B sector uses 1/8 of itself"
        (convert_f32_f16(4), 1, 1, 12),
        (convert_f32_f16(8), 0.5, 1, 80 / 3),
        (swiglu(1), 1, 1, 4),
        (swiglu(4), 1, 1, 16),
    ],
    ids=str,
)
def test_how_much_of_each_sector_is_used(kernel, loads, stores, sectors_per_access):
    """Lanes side by side read elements side by side: only two loads in turn leave halves of sectors unused."""
    counts = emulated(kernel, random_inputs(kernel.contract, {"n": 8192}, seed=1)).counts
    assert counts["global_load_utilisation"] == loads
    assert counts["global_store_utilisation"] == stores
    sectors = counts["global_load_sectors"] + counts["global_store_sectors"]
    accesses = counts["inst_executed_ld_global"] + counts["inst_executed_st_global"]
    assert sectors / accesses == pytest.approx(sectors_per_access)


@pytest.mark.parametrize(
    ("scalar", "vectorised", "fewer"),
    [
        (convert_f32_f16(1), convert_f32_f16(4), 4),
        (convert_f32_f16(1), convert_f32_f16(8), 16 / 3),
        (store_kv_f16(1), store_kv_f16(4), 4),
        (store_kv_f16(1), store_kv_f16(8, "flat"), 6),  # with the position 3 per 32 dims, and 4 per 256
        (swiglu(1), swiglu(4), 4),
    ],
    ids=str,
)
def test_vectorised_accesses_are_fewer_by_the_width(scalar, vectorised, fewer):
    inputs = random_inputs(scalar.contract, scalar.contract.emulated[-1], seed=1)
    before, after = (emulated(kernel, inputs).counts for kernel in (scalar, vectorised))
    accesses = [counts["inst_executed_ld_global"] + counts["inst_executed_st_global"] for counts in (before, after)]
    assert accesses[0] / accesses[1] == pytest.approx(fewer, rel=0.05)  # each warp of store_kv reads a position too
    assert before["global_store_bytes"] == after["global_store_bytes"]


@pytest.mark.parametrize("gpu", ["H200", "GB10", "A100"])
@pytest.mark.parametrize(
    ("kernel", "loads", "store"),
    [
        (convert_f32_f16(4), 1, "STG.E.64"),
        (convert_f32_f16(8), 2, "STG.E.128"),
        (store_kv_f16(4), 1, "STG.E.64"),
        (store_kv_f16(8, "flat"), 2, "STG.E.128"),
        (swiglu(4), 2, "STG.E.128"),
    ],
    ids=str,
)
def test_machine_code_has_the_wide_accesses(kernel, loads, store, gpu):
    ledger = build(kernel, arch_named(gpu)).ledger
    if ledger.instruction_mix is None:
        pytest.skip("nvdisasm was not found (pip install nvidia-cuda-nvdisasm)")
    assert (ledger.instruction_mix["LDG.E.128"], ledger.instruction_mix[store]) == (loads, 1)
    assert (ledger.spill_loads, ledger.spill_stores, ledger.stack) == (0, 0, 0)


@pytest.mark.parametrize("kernel", [convert_f32_f16(1), store_kv_f16(1), swiglu(1), *ROWS], ids=str)
def test_scalar_kernels_have_none(kernel):
    mix = build(kernel, H200).ledger.instruction_mix or {}
    assert [opcode for opcode in mix if re.match(r"(LDG|STG).*\.(64|128)", opcode)] == []


# ------------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: convert_f32_f16(per_lane=2), "convert_f32_f16: per_lane = 2 is not one of 1, 4, 8"),
        (lambda: store_kv_f16(per_lane=2), "store_kv_f16: per_lane = 2 is not one of 1, 4, 8"),
        (lambda: store_kv_f16(grid="tokens"), "store_kv_f16: grid = 'tokens' is not one of rows, flat"),
        (lambda: swiglu(per_lane=0), "swiglu: per_lane = 0 is not one of 1, 4"),
        (lambda: rms_norm(out="bf16"), "rms_norm: out = 'bf16' is not one of f32, f16"),
        (lambda: rope(hd=96), "rope: hd = 96 is not one of 64, 128"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(make, message):
    with pytest.raises(Refusal, match=re.escape(message)):
        make()


@pytest.mark.parametrize(
    ("kernel", "dims", "message"),
    [
        (convert_f32_f16(), {"n": 2**31}, "n = 2147483648 is not between 1 and 2147483647"),
        (swiglu(), {"n": 0}, "n = 0 is not between 1"),
        (store_kv_f16(), {"nt": 8, "nkt": 4, "slots": 7}, "slots = 7 rows of dst cannot hold nt = 8 tokens"),
        (store_kv_f16(), {"nt": 1, "nkt": 2**24, "slots": 1}, "nkt = 16777216 is over 8388480"),
        (
            store_kv_f16(),
            {"nt": 2**20, "nkt": 4096, "slots": 2**20},
            "nt · nkt = 4294967296 is over 4294967040: a flat grid numbers its lanes in 32 bits",
        ),
        (add_bias(), {"nt": 1, "od": 2**24}, "od = 16777216 is over 16776960"),
        (embedding(), {"nt": 1, "id": 2**24, "vocabulary": 1}, "id = 16777216 is over 16776960"),
    ],
    ids=str,
)
def test_dimensions_beyond_what_can_be_indexed_are_refused(kernel, dims, message):
    with pytest.raises(Refusal, match=re.escape(message)):
        kernel.contract.check_dimensions(dims)


def changed(kernel, dims, **arrays):
    return random_inputs(kernel.contract, dims, seed=1) | arrays


@pytest.mark.parametrize(
    ("positions", "message"),
    [
        ([0, 3, 7], "positions 0 to 7 are not all inside the 7 rows of dst"),
        ([0, -1, 6], "positions -1 to 6 are not all inside"),
        ([2, 6, 2], "positions name row 2 more than once"),
    ],
)
def test_positions_outside_the_cache_or_named_twice_are_refused(positions, message):
    kernel = store_kv_f16()
    inputs = changed(kernel, {"nt": 3, "nkt": 8, "slots": 7}, positions=np.array(positions, np.int32))
    with pytest.raises(Refusal, match=re.escape(message)):
        EmulatedWorkspace(kernel.contract, inputs)


@pytest.mark.parametrize("positions", [[-1, 5], [5, 2**24]])
def test_positions_that_f32_does_not_hold_are_refused(positions):
    inputs = changed(rope(), {"nt": 2, "nh": 1}, positions=np.array(positions, np.int32))
    with pytest.raises(Refusal, match="are not all from 0 to 16777215"):
        EmulatedWorkspace(rope().contract, inputs)


@pytest.mark.parametrize("token", [-1, 7])
def test_tokens_outside_the_vocabulary_are_refused(token):
    inputs = changed(embedding(), {"nt": 2, "id": 8, "vocabulary": 7}, tokens=np.array([3, token], np.int32))
    with pytest.raises(Refusal, match="are not all inside the vocabulary of 7"):
        EmulatedWorkspace(embedding().contract, inputs)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_arrays_that_are_not_contiguous_are_refused_with_their_strides(kernel):
    inputs = random_inputs(kernel.contract, kernel.contract.emulated[0], seed=1)
    first = kernel.contract.inputs[0].name
    spread = np.repeat(inputs[first], 2, axis=-1)[..., ::2]
    with pytest.raises(Refusal, match=f"{first} is not contiguous: its strides are {re.escape(str(spread.strides))}"):
        EmulatedWorkspace(kernel.contract, inputs | {first: spread})


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_addresses_that_its_accesses_cannot_use_are_refused(kernel):
    """What both runners ask before a launch."""
    aligned = [4096 * (number + 1) for number in range(len(kernel.contract.tensors))]
    kernel.check_addresses(aligned)
    wide = kernel.parameters.get("per_lane", 1) > 1
    first = kernel.contract.tensors[0].name
    for offset in (1, 2, *((4, 8) if wide else ())):
        message = f"{first} is at {4096 + offset:#x}, which is not a multiple of {16 if wide else 4} bytes"
        with pytest.raises(Refusal, match=message):
            kernel.check_addresses([4096 + offset, *aligned[1:]])


@pytest.mark.parametrize(("per_lane", "stored"), [(1, 2), (4, 8), (8, 16)])
def test_each_array_has_to_lie_where_its_own_accesses_can(per_lane, stored):
    """store_kv reads positions one by one, whatever it reads of src, and writes half of the bytes that it reads."""
    kernel = store_kv_f16(per_lane, "flat")
    kernel.check_addresses([4096, 4100, 8192 + stored])
    with pytest.raises(Refusal, match="positions is at 0x1002, which is not a multiple of 4 bytes"):
        kernel.check_addresses([4096, 4098, 8192])
    with pytest.raises(Refusal, match=f"dst is at .*, which is not a multiple of {stored} bytes"):
        kernel.check_addresses([4096, 4100, 8192 + stored // 2])


@pytest.mark.parametrize(("nt", "nkt", "blocks"), [(2048, 512, 512), (75_776, 512, 18_944), (3, 1001, 2), (1, 1, 1)])
def test_a_flat_grid_is_full_blocks_over_all_tokens(nt, nkt, blocks):
    """Eight dims per lane, 256 lanes per block: 2048 dims, of 4 tokens of a 7B's K or V; 1001 dims take 126 lanes."""
    assert store_kv_f16(8, "flat").grid(nt, nkt, nt) == (blocks, 1, 1)


def test_packed_conversions_are_refused_before_sm_80_and_scalar_ones_are_not():
    turing = arch_named("sm_75")
    for kernel in (convert_f32_f16(4), convert_f32_f16(8), store_kv_f16(4)):
        with pytest.raises(Refusal, match="needs sm_80 or later"):
            build(kernel, turing)
    assert build(convert_f32_f16(1), turing).ledger.spill_loads == 0


# --------------------------------------------------------------------------------------- as one types it, and on a GPU


@pytest.mark.parametrize(
    "typed",
    [
        "convert_f32_f16 --per_lane 4",
        "store_kv_f16",
        "swiglu",
        "rms_norm --out f16",
        "rope --hd 64",
        "add_bias",
        "embedding",
    ],
)
def test_a_kernel_is_checked_and_counted_by_its_name(typed, capsys):
    assert main(["check", *typed.split()]) == 0
    printed = capsys.readouterr().out
    assert printed.count(" held: ") == 2
    assert printed.count("hazards") == printed.count(": none") == 2
    *_, heading, counts = printed.splitlines()
    assert heading.endswith("used of each sector stored") and counts.endswith(" 100.0%")


@pytest.mark.gpu
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_kernel_is_right_on_a_gpu_at_larger_sizes(device, kernel):
    from playground.gpu.workspace import Workspace

    def run(kernel, inputs):
        with Workspace(device, kernel.contract, inputs) as workspace:
            return workspace.run(build(kernel, device.arch))

    sizes = {
        1: [(1,), (9,), (1_000_003,), (3_000_000,)],
        2: [(1, 1), (300, 3584), (65, 5001)],
        3: [(3, 130, 5), (700, 512, 1000), (65, 1001, 70)],
    }
    dims = [(3, 5), (300, 28)] if kernel.name == "rope" else sizes[len(kernel.contract.dimensions)]
    assert failures(kernel, dims, run) == {}
