"""Filters and transforms images by CuPy's FFT and image functions, with pinned copies."""

import cupy
import cupyx
import cupyx.scipy.ndimage as ndimage
import numpy

rng = numpy.random.default_rng(0)
images = [rng.random((256, 256), dtype=numpy.float32) for _ in range(6)]
kernel = cupy.fft.rfft2(cupy.pad(cupy.ones((9, 9), cupy.float32) / 81, ((0, 247), (0, 247))))
total = 0.0
for image in images:
    pinned = cupyx.empty_pinned(image.shape, image.dtype)
    pinned[...] = image
    here = cupy.asarray(pinned)
    blurred = cupy.fft.irfft2(cupy.fft.rfft2(here) * kernel, s=here.shape)
    edges = ndimage.sobel(ndimage.gaussian_filter(blurred, 2.0))
    total += float(ndimage.zoom(edges, 0.5, order=1).std())
print(f"edges {total:.3f}")
