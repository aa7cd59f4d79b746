"""Plays the game of life by a kernel that CuPy compiles, on a stream of its own."""

import cupy

step = cupy.RawKernel(r"""
extern "C" __global__ void step(const unsigned char *old, unsigned char *made, int size)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, count = 0;

    if (x >= size || y >= size)
        return;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy)
                count += old[(y + dy + size) % size * size + (x + dx + size) % size];
    made[y * size + x] = count == 3 || (count == 2 && old[y * size + x]);
}
""", "step")
cupy.random.seed(1)
field = (cupy.random.random((512, 512)) < 0.3).astype(cupy.uint8)
other = cupy.empty_like(field)
cupy.cuda.Device().synchronize()
stream = cupy.cuda.Stream(non_blocking=True)
with stream:
    for _ in range(100):
        step((32, 32), (16, 16), (field, other, cupy.int32(512)))
        field, other = other, field
stream.synchronize()
print("alive", int(field.sum()))
