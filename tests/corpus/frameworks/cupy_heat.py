"""Spreads heat over 256 x 256 points by slices of CuPy arrays, 100 time steps of short kernels each."""

import cupy
import steps

SIZE = 256
TIME_STEPS = 100


def spread(field, sources):
    """Advance a field by 100 time steps; its upper and lower edge let nothing through."""
    for _ in range(TIME_STEPS):
        inner = field[1:-1, 1:-1]
        around = field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2]
        field[1:-1, 1:-1] = inner + 0.2 * (around - 4.0 * inner) + 1e-3 * sources
        field[0, :] = field[1, :]
        field[-1, :] = field[-2, :]


def captured(work, field):
    """Return a graph of work on a field, which stays as it is, and the graph's stream."""
    before = field.copy()
    cupy.cuda.runtime.deviceSynchronize()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        work()
        stream.begin_capture()
        work()
        graph = stream.end_capture()
        field[...] = before
    stream.synchronize()
    return graph, stream


def build(variant):
    """Return a step: 100 time steps; every tenth reports the mean."""
    random = cupy.random.RandomState(0)
    field = random.uniform(0, 1, (SIZE, SIZE)).astype(cupy.float32)
    sources = (random.uniform(0, 1, (SIZE - 2, SIZE - 2)) < 0.01).astype(cupy.float32)
    stream = cupy.cuda.Stream.null
    if variant == "graph":
        graph, stream = captured(lambda: spread(field, sources), field)
    mean = 0.0

    def step(number):
        nonlocal mean
        with stream:
            if variant == "graph":
                graph.launch(stream)
            else:
                spread(field, sources)
            if number % 10 == 9:
                mean = float(field.mean())
        return mean

    return step


steps.run(build, "eager", "graph", synchronize=cupy.cuda.runtime.deviceSynchronize)
