"""Reduces and maps arrays by Numba's own reductions and universal functions."""

import math

import numpy
from numba import cuda, vectorize

add = cuda.reduce(lambda a, b: a + b)


@vectorize(["float64(float64, float64)"], target="cuda")
def hypotenuse(a, b):
    """Return the length of a vector."""
    return math.sqrt(a * a + b * b)


values = cuda.to_device(numpy.arange(100000, dtype=numpy.float64))
for _ in range(5):
    made = hypotenuse(values, values)
print(f"sum {add(values):.0f}, longest {made.copy_to_host().max():.3f}")
