"""FAP2: softmax on the accumulator fragments. A warp owns whole rows, four lanes share each: no shared memory at all.

Source: seed 001, §2 "4-lane row groups and the butterfly" and §3.2.
"""

from numba import cuda, float32

from playground.kernels.attention.fragments import LANE_ROWS, REGISTERS, column_of, half_of
from playground.kernels.attention.online import correction, logit_scale, weight
from playground.kernels.attention.queries import visible
from playground.ptx.device_function import device_function
from playground.ptx.shuffle import butterfly

FRAGMENT = 16


def on_fragments(TKV: int, hd: int):
    """A device function: `softmax(scores, position, maximum, total, alpha, first_key, kv)`.

    scores: TKV/16 fragments of q · k, which become the weights. position, maximum, total and alpha hold the lane's two
    rows; alpha is the correction that the output so far needs.
    """
    scale = logit_scale(hd)
    fragments = TKV // FRAGMENT

    @device_function
    def softmax(scores, position, maximum, total, alpha, first_key, kv):
        lane = cuda.threadIdx.x & 31
        new_maximum = cuda.local.array(LANE_ROWS, float32)
        seen = cuda.local.array(LANE_ROWS, float32)
        for row in range(LANE_ROWS):
            new_maximum[row] = maximum[row]
            seen[row] = 0
        for fragment in range(fragments):
            for element in range(REGISTERS):
                row = half_of(element)
                key = first_key + fragment * FRAGMENT + column_of(lane, element)
                scores[fragment, element] *= scale
                if visible(key, position[row], kv):
                    new_maximum[row] = max(new_maximum[row], scores[fragment, element])
        for row in range(LANE_ROWS):
            new_maximum[row] = max(new_maximum[row], butterfly(new_maximum[row], 1))
            new_maximum[row] = max(new_maximum[row], butterfly(new_maximum[row], 2))
            alpha[row] = correction(maximum[row], new_maximum[row])
            maximum[row] = new_maximum[row]
        for fragment in range(fragments):
            for element in range(REGISTERS):
                row = half_of(element)
                key = first_key + fragment * FRAGMENT + column_of(lane, element)
                p = weight(scores[fragment, element], maximum[row], visible(key, position[row], kv))
                scores[fragment, element] = p
                seen[row] += p
        for row in range(LANE_ROWS):
            seen[row] += butterfly(seen[row], 1)
            seen[row] += butterfly(seen[row], 2)
            total[row] = total[row] * alpha[row] + seen[row]

    return softmax
