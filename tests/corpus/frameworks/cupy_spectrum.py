"""Filters a field of 8,192 x 8,192 complex values in the frequencies, by CuPy's FFT."""

import cupy
import steps

SIZE = 8192


def build(_):
    """Return a step: two filters of the same field, and a value of each."""
    random = cupy.random.RandomState(0)
    field = cupy.empty((SIZE, SIZE), cupy.complex64)
    field.real = random.standard_normal((SIZE, SIZE), dtype=cupy.float32)
    field.imag = 0
    rows, columns = cupy.fft.fftfreq(SIZE)[:, None], cupy.fft.fftfreq(SIZE)[None, :]
    distances = rows * rows + columns * columns
    filters = [cupy.exp(-distances * width).astype(cupy.float32) for width in (50.0, 500.0)]

    def step(_):
        total = 0.0
        for weights in filters:
            smooth = cupy.fft.ifft2(cupy.fft.fft2(field) * weights)
            total += float(smooth[100, 100].real)
        return total

    return step


steps.run(build, "eager", synchronize=cupy.cuda.runtime.deviceSynchronize)
