"""Lets two substances of Gray and Scott react on 256 x 256 points, by a kernel launched 200 times a step."""

import cupy
import numpy
import steps

SIZE = 256
LAUNCHES = 200

react = cupy.RawKernel(
    r"""
extern "C" __global__ void react(const float *u, const float *v, float *next_u, float *next_v, int size,
                                 float feed, float kill)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= size || row >= size)
        return;
    int left = row * size + (column + size - 1) % size, right = row * size + (column + 1) % size;
    int up = (row + size - 1) % size * size + column, down = (row + 1) % size * size + column;
    int here = row * size + column;
    float reaction = u[here] * v[here] * v[here];
    float spread_u = u[left] + u[right] + u[up] + u[down] - 4.0f * u[here];
    float spread_v = v[left] + v[right] + v[up] + v[down] - 4.0f * v[here];
    next_u[here] = u[here] + 0.16f * spread_u - reaction + feed * (1.0f - u[here]);
    next_v[here] = v[here] + 0.08f * spread_v + reaction - (feed + kill) * v[here];
}
""",
    "react",
)


def advance(now, following):
    """Launch 200 time steps, from one pair of arrays to the other and back."""
    size, feed, kill = numpy.int32(SIZE), numpy.float32(0.035), numpy.float32(0.065)
    blocks, threads = (SIZE // 32, SIZE // 8), (32, 8)
    for _ in range(LAUNCHES // 2):
        react(blocks, threads, (*now, *following, size, feed, kill))
        react(blocks, threads, (*following, *now, size, feed, kill))


def build(variant):
    """Return a step: 200 time steps, then the mean of one substance."""
    u = cupy.ones((SIZE, SIZE), cupy.float32)
    v = cupy.zeros((SIZE, SIZE), cupy.float32)
    v[100:140, 100:140] = 0.25
    now, following = (u, v), (cupy.empty_like(u), cupy.empty_like(v))
    stream = cupy.cuda.Stream.null
    if variant == "graph":
        before = u.copy(), v.copy()
        cupy.cuda.runtime.deviceSynchronize()
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            advance(now, following)
            stream.synchronize()
            stream.begin_capture()
            advance(now, following)
            graph = stream.end_capture()
            u[...], v[...] = before

    def step(_):
        with stream:
            if variant == "graph":
                graph.launch(stream)
            else:
                advance(now, following)
            return float(v.mean())

    return step


steps.run(build, "eager", "graph", synchronize=cupy.cuda.runtime.deviceSynchronize)
