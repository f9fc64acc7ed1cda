"""ldmatrix: the statement of the PTX ISA (§ ldmatrix), and which lane receives what."""

import re

import numpy as np
from numba import cuda
from numba.cuda.types import Array, uint16, uint32

from playground.emulator import emulate
from playground.ptx.ldmatrix import load_4_matrices
from playground.ptx.memory import shared_address


def load(halves, received):
    tile = cuda.shared.array(256, uint16)
    words = cuda.local.array(4, uint32)
    lane = cuda.threadIdx.x
    for column in range(8):
        tile[lane * 8 + column] = halves[lane, column]
    cuda.syncwarp()
    load_4_matrices(words, shared_address(tile) + lane * 16)
    for matrix in range(4):
        received[lane, matrix] = words[matrix]


def test_it_is_one_statement_that_fills_four_registers(ptx_of):
    ptx = ptx_of(load, Array(uint16, 2, "C"), Array(uint32, 2, "C"))
    (registers,) = re.findall(r"ldmatrix\.sync\.aligned\.m8n8\.x4\.shared\.b16 \{(.*?)\}, \[%r\d+\];", ptx)
    assert len(set(registers.split(", "))) == 4


def test_a_lane_receives_a_pair_of_row_lane_4_of_each_matrix():
    halves = np.arange(256, dtype=np.uint16).reshape(32, 8)
    received = np.zeros((32, 4), np.uint32)
    report = emulate(load, 1, 32, halves, received)
    for lane in range(32):
        pair = 2 * (lane % 4)
        wanted = [halves[8 * matrix + lane // 4, pair : pair + 2].tolist() for matrix in range(4)]
        assert received[lane].view(np.uint16).reshape(4, 2).tolist() == wanted
    assert report.counts.total()["ldmatrix_executed"] == 1
