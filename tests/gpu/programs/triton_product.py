"""Multiplies matrices on tensor cores by a Triton kernel that tunes itself between two shapes."""

import torch
import triton
import triton.language as tl


@triton.autotune([triton.Config({"tile": tile}, num_warps=4) for tile in (32, 64)], key=["size"])
@triton.jit
def product(a, b, c, size, tile: tl.constexpr):
    """Compute a tile."""
    rows = tl.program_id(0) * tile + tl.arange(0, tile)
    columns = tl.program_id(1) * tile + tl.arange(0, tile)
    inner = tl.arange(0, tile)
    total = tl.zeros((tile, tile), tl.float32)
    for k in range(0, size, tile):
        left = tl.load(a + rows[:, None] * size + (k + inner)[None, :])
        right = tl.load(b + (k + inner)[:, None] * size + columns[None, :])
        total += tl.dot(left, right)
    tl.store(c + rows[:, None] * size + columns[None, :], total.to(tl.float16))


torch.manual_seed(0)
a, b = (torch.randn(512, 512, device="cuda", dtype=torch.float16) for _ in range(2))
c = torch.empty_like(a)
for _ in range(10):
    product[lambda meta: (512 // meta["tile"], 512 // meta["tile"])](a, b, c, 512)
print("same", torch.allclose(c, a @ b, atol=0.5, rtol=0.05))
