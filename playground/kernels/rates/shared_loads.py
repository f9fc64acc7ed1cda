"""Loads from shared memory whose addresses come from the loads before, round a ring of tiles.

Every word of a tile holds the distance in bytes to the next tile. The compiler cannot know it, so it has to load: no
load is merged, moved out of the loop or left out. Between two loads of a chain stands one addition, and where a load
brings four words three ANDs of them, which the compiler makes two: at most 4 of 16 issue slots.
"""

from numba import cuda
from numba.cuda import types

from playground.kernels.kernel import Kernel
from playground.kernels.layout import ALIGNMENT, Region, SharedLayout
from playground.kernels.parameters import check_choice
from playground.kernels.rates.per_sm import THREADS, WORD, per_sm_kernel
from playground.kernels.rates.stamps import begin, end
from playground.ptx.device_function import device_function
from playground.ptx.ldmatrix import load_4_matrices
from playground.ptx.memory import (
    load_global_s32,
    load_global_u32,
    load_shared_u32,
    load_shared_v4,
    shared_address,
    store_global_u32,
    store_shared_u32,
)

LANES = 32
TILES, CHAINS, STEPS = 11, 8, 4

int64, uint8, uint32 = types.int64, types.uint8, types.uint32


def shared_loads(load: str = "4 B", ways: int = 1) -> Kernel:
    """out [blocks, 512] u32 = the sum of how far, in bytes, 8 chains are from the first tile, after 4 loads each per
    repetition; they begin at the tiles x, x + 1, … modulo 11. All x of a block are one number.

    load: "4 B", "16 B" per lane, or "ldmatrix" (x4). ways: words from one lane to the next, for 4 B: 2 and 4 put as
    many lanes of a warp into one bank.
    """
    check_choice("shared_loads", "load", load, ("4 B", "16 B", "ldmatrix"))
    check_choice("shared_loads", "ways", ways, (1, 2, 4) if load == "4 B" else (1,))
    distance = {"4 B": load_shared_u32, "16 B": same_in_16_bytes, "ldmatrix": same_in_4_matrices}[load]
    PITCH = WORD * ways if load == "4 B" else 16
    TILE = tile_bytes(load, ways)
    BACK = 2**32 - (TILES - 1) * TILE
    layout = SharedLayout(Region("ring", (TILES, TILE), 1))

    def shared_loads(x, repetitions, out, stamps, blocks):
        thread = cuda.blockIdx.x * THREADS + cuda.threadIdx.x
        ring = shared_address(cuda.shared.array(0, uint8, alignment=ALIGNMENT))
        for offset in range(cuda.threadIdx.x * WORD, TILES * TILE, THREADS * WORD):
            store_shared_u32(ring + offset, TILE if offset < (TILES - 1) * TILE else BACK)

        times = load_global_s32(repetitions)
        start = load_global_u32(x + thread * WORD)
        first = uint32(ring + cuda.threadIdx.x % LANES * PITCH)
        addresses = cuda.local.array(CHAINS, uint32)
        taken = cuda.local.array(2, int64)
        for chain in range(CHAINS):
            addresses[chain] = uint32(first + (start + chain) % TILES * TILE)

        begin(taken)
        for _ in range(times):
            for _ in range(STEPS):
                for chain in range(CHAINS):
                    addresses[chain] = uint32(addresses[chain] + distance(addresses[chain]))
        end(taken, stamps)

        total = uint32(0)
        for chain in range(CHAINS):
            total = uint32(total + addresses[chain] - first)
        store_global_u32(out + thread * WORD, total)

    return per_sm_kernel(shared_loads, "uint32", {"load": load, "ways": ways}, layout)


def tile_bytes(load: str, ways: int) -> int:
    """What a warp's load spans."""
    return LANES * (WORD * ways if load == "4 B" else 16)


@device_function
def same_in_16_bytes(address):
    """The word that all four of the 16 bytes are: LDS.128, and every register of it is used."""
    words = cuda.local.array(4, uint32)
    load_shared_v4(words, address)
    return words[0] & words[1] & words[2] & words[3]


@device_function
def same_in_4_matrices(address):
    """The word that all of the four matrices are made of."""
    words = cuda.local.array(4, uint32)
    load_4_matrices(words, address)
    return words[0] & words[1] & words[2] & words[3]
