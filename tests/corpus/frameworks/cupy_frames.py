"""Finds edges in frames that NumPy holds, and returns them to NumPy as 64 MiB of float32."""

import cupy
import cupyx
import numpy
import steps

FRAMES, HEIGHT, WIDTH = 16, 1024, 1024


def edges_of(frames):
    """Return the length of the gradient at each pixel."""
    values = frames.astype(cupy.float32) / 255
    across = cupy.zeros_like(values)
    down = cupy.zeros_like(values)
    across[:, :, 1:-1] = values[:, :, 2:] - values[:, :, :-2]
    down[:, 1:-1, :] = values[:, 2:, :] - values[:, :-2, :]
    return cupy.sqrt(across * across + down * down)


def build(variant):
    """Return a step: 16 frames there, their edges back."""
    random = numpy.random.default_rng(0)
    batches = [random.integers(0, 256, (FRAMES, HEIGHT, WIDTH), numpy.uint8) for _ in range(4)]
    pinned = None
    if variant == "pinned":
        pinned = cupyx.empty_pinned((FRAMES, HEIGHT, WIDTH), numpy.float32)

    def step(number):
        edges = edges_of(cupy.asarray(batches[number % 4]))
        result = cupy.asnumpy(edges, out=pinned)
        return float(result[0, 500, 500])

    return step


steps.run(build, "eager", "pinned", synchronize=cupy.cuda.runtime.deviceSynchronize)
