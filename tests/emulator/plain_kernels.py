"""Plain Numba kernels, without intrinsics: each right as it stands, and wrong in one named way."""

import functools

from numba import cuda, float32, int32

BLOCK = 128


@functools.cache
def block_sum(first_barrier=True, loop_barrier=True, atomic=True):
    """out[0] += sum(x): a tree in shared memory, then one atomic per block."""

    def kernel(x, out):
        shared = cuda.shared.array(BLOCK, float32)
        thread = cuda.threadIdx.x
        total = float32(0)
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            total += x[i]
        shared[thread] = total
        if first_barrier:
            cuda.syncthreads()
        width = BLOCK // 2
        while width > 0:
            if thread < width:
                shared[thread] += shared[thread + width]
            if loop_barrier:
                cuda.syncthreads()
            width //= 2
        if thread == 0:
            if atomic:
                cuda.atomic.add(out, 0, shared[0])
            else:
                out[0] += shared[0]

    return kernel


@functools.cache
def transpose(barrier=True, pad=1, tile=16, shift=0):
    """y = xᵀ through a tile in shared memory."""
    width = tile + pad

    def kernel(x, y):
        shared = cuda.shared.array((tile, width), float32)
        column, row = cuda.threadIdx.x, cuda.threadIdx.y
        shared[row, column] = x[cuda.blockIdx.y * tile + row, cuda.blockIdx.x * tile + column]
        if barrier:
            cuda.syncthreads()
        y[cuda.blockIdx.x * tile + row, cuda.blockIdx.y * tile + column] = shared[column + shift, row]

    return kernel


@functools.cache
def histogram(clear=True, barrier=True, atomic=True):
    """counts[b] = how many of x are b: counted per block in shared memory, then added up."""

    def kernel(x, counts):
        shared = cuda.shared.array(BLOCK, int32)
        thread = cuda.threadIdx.x
        if clear:
            shared[thread] = 0
        if barrier:
            cuda.syncthreads()
        i = cuda.grid(1)
        if i < x.size:
            if atomic:
                cuda.atomic.add(shared, x[i], 1)
            else:
                shared[x[i]] += 1
        cuda.syncthreads()
        cuda.atomic.add(counts, thread, shared[thread])

    return kernel


@functools.cache
def stencil(masked=True, in_place=False):
    """y[i] = x[i - 1] + x[i + 1], the ends left alone."""

    def kernel(x, y):
        i = cuda.grid(1)
        if not masked or 1 <= i < x.size - 1:
            if in_place:
                x[i] = x[i - 1] + x[i + 1]
            else:
                y[i] = x[i - 1] + x[i + 1]

    return kernel


@functools.cache
def matmul(last_barrier=True, first_barrier=True, tile=8):
    """c = a b, staged in shared memory; sizes multiples of the tile."""

    def kernel(a, b, c):
        left = cuda.shared.array((tile, tile), float32)
        right = cuda.shared.array((tile, tile), float32)
        column, row = cuda.grid(2)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        total = float32(0)
        for k in range(0, a.shape[1], tile):
            left[y, x] = a[row, k + x]
            right[y, x] = b[k + y, column]
            if first_barrier:
                cuda.syncthreads()
            for i in range(tile):
                total += left[y, i] * right[i, x]
            if last_barrier:
                cuda.syncthreads()
        c[row, column] = total

    return kernel


@functools.cache
def reverse(early_return=False, divergent=False, dynamic=False):
    """y[block] = x[block] reversed, block by block."""
    size = 0 if dynamic else BLOCK

    def kernel(x, y):
        shared = cuda.shared.array(size, float32)
        thread, i = cuda.threadIdx.x, cuda.grid(1)
        if early_return and i >= x.size:
            return
        if i < x.size:
            shared[thread] = x[i]
        if divergent:
            if thread < 40:
                cuda.syncthreads()
        else:
            cuda.syncthreads()
        if i < x.size:
            y[i] = shared[BLOCK - 1 - thread]

    return kernel
