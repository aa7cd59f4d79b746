"""Moves a wave by a kernel of Numba that is given arrays of NumPy: each call copies all there and back."""

import numpy
import steps

numpy.row_stack = numpy.vstack  # gone from NumPy 2.5, and numba-cuda 0.30 asks for it
# pylint: disable=wrong-import-position
from numba import cuda  # noqa: E402

SIZE = 2048


@cuda.jit
def move(before, now, after, speed):
    """Compute the height of each point after a time step."""
    column, row = cuda.grid(2)
    if 0 < row < now.shape[0] - 1 and 0 < column < now.shape[1] - 1:
        here = now[row, column]
        around = now[row - 1, column] + now[row + 1, column] + now[row, column - 1] + now[row, column + 1]
        after[row, column] = 2 * here - before[row, column] + speed * (around - 4 * here)


def build(variant):
    """Return a step: a time step, and the height of one point."""
    make = cuda.pinned_array if variant == "pinned" else numpy.empty
    heights = [make((SIZE, SIZE), dtype=numpy.float32) for _ in range(3)]
    distances = numpy.arange(SIZE, dtype=numpy.float32) - SIZE / 2
    hill = numpy.exp(-(distances[:, None] ** 2 + distances[None, :] ** 2) / 5000)
    for height in heights:
        height[...] = hill
    if variant == "device":
        heights = [cuda.to_device(height) for height in heights]
    blocks = (SIZE // 32, SIZE // 8)

    def step(_):
        before, now, after = heights
        move[blocks, (32, 8)](before, now, after, numpy.float32(0.2))
        heights[:] = now, after, before
        return float(after[SIZE // 2, SIZE // 2])

    return step


steps.run(build, "eager", "pinned", "device", synchronize=cuda.synchronize)
