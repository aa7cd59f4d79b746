"""Sharpens images with CuPy's memory pool turned off: each temporary array is allocated and freed."""

import cupy
import steps

SIZE = 2048


def sharpened(image):
    """Return an image with more contrast between each pixel and those around it."""
    blurred = image.copy()
    blurred[1:-1, :] = (image[2:, :] + image[1:-1, :] + image[:-2, :]) / 3
    blurred[:, 1:-1] = (blurred[:, 2:] + blurred[:, 1:-1] + blurred[:, :-2]) / 3
    details = image - blurred
    return cupy.clip(image + 1.5 * details, 0, 1)


def build(variant):
    """Return a step: four images, and the mean of their sum."""
    if variant == "eager":
        cupy.cuda.set_allocator(None)
    random = cupy.random.RandomState(0)
    images = [random.uniform(0, 1, (SIZE, SIZE)).astype(cupy.float32) for _ in range(4)]

    def step(_):
        total = sharpened(images[0])
        for image in images[1:]:
            total += sharpened(image)
        return float(total.mean())

    return step


steps.run(build, "eager", "pool", synchronize=cupy.cuda.runtime.deviceSynchronize)
