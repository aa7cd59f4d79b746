"""Counts bytes by atomics in Numba, with two streams and pinned arrays."""

import numpy
from numba import cuda


@cuda.jit
def count(values, bins):
    """Count in global memory."""
    for at in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(bins, values[at], 1)


rng = numpy.random.default_rng(0)
parts = [rng.integers(0, 256, 1 << 18).astype(numpy.int32) for _ in range(4)]
streams = [cuda.stream(), cuda.stream()]
bins = [cuda.to_device(numpy.zeros(256, numpy.int32)) for _ in streams]
with cuda.pinned(*parts):
    for number, part in enumerate(parts):
        stream = streams[number % 2]
        here = cuda.to_device(part, stream=stream)
        count[64, 128, stream](here, bins[number % 2])
    for stream in streams:
        stream.synchronize()
total = sum(one.copy_to_host() for one in bins)
wanted = numpy.bincount(numpy.concatenate(parts), minlength=256)
print("counted", int(total.sum()), "same", bool((total == wanted).all()))
