"""Groups points around their means in CuPy."""

import cupy

cupy.random.seed(0)
points = cupy.random.standard_normal((20000, 8)).astype(cupy.float32)
means = points[:16].copy()
for _ in range(12):
    apart = ((points[:, None, :] - means[None, :, :]) ** 2).sum(2)
    nearest = apart.argmin(1)
    for group in range(16):
        members = points[nearest == group]
        if len(members):
            means[group] = members.mean(0)
print("groups", int(cupy.unique(nearest).size), f"inertia per point {float(apart.min(1).mean()):.1f}")
