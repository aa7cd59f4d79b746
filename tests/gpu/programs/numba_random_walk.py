"""Walks at random in Numba with a generator per thread."""

import numpy
from numba import cuda
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32


@cuda.jit
def walk(states, ends, steps):
    """Take steps to the left or right."""
    at = cuda.grid(1)
    if at < ends.size:
        place = 0
        for _ in range(steps):
            place += 1 if xoroshiro128p_uniform_float32(states, at) < 0.5 else -1
        ends[at] = place


states = create_xoroshiro128p_states(128 * 64, seed=1)
ends = cuda.device_array(128 * 64, numpy.int32)
for _ in range(5):
    walk[64, 128](states, ends, 1000)
here = ends.copy_to_host()
print("walks", here.size, "sum", int(here.sum()), "farthest", int(abs(here).max()))
