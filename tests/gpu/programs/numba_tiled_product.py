"""Multiplies matrices by a Numba kernel with tiles in shared memory."""

import numpy
from numba import cuda, float32

TILE = 16


@cuda.jit
def product(a, b, c):
    """Compute one element of a tile per thread."""
    left, right = cuda.shared.array((TILE, TILE), float32), cuda.shared.array((TILE, TILE), float32)
    row, column = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for tile in range(a.shape[1] // TILE):
        left[x, y] = a[row, tile * TILE + y]
        right[x, y] = b[tile * TILE + x, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += left[x, k] * right[k, y]
        cuda.syncthreads()
    c[row, column] = total


rng = numpy.random.default_rng(0)
a, b = rng.random((256, 256), dtype=numpy.float32), rng.random((256, 256), dtype=numpy.float32)
here, there = cuda.to_device(a), cuda.to_device(b)
made = cuda.device_array((256, 256), numpy.float32)
for _ in range(20):
    product[(16, 16), (TILE, TILE)](here, there, made)
print("same", bool(numpy.allclose(made.copy_to_host(), a @ b, rtol=1e-3)))
