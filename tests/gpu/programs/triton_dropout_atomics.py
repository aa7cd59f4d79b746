"""Drops values by Triton's random numbers, and sums what is left by atomics."""

import torch
import triton
import triton.language as tl


@triton.jit
def drop(x, y, total, size, share, seed, block: tl.constexpr):
    """Keep a share of the values."""
    at = tl.program_id(0) * block + tl.arange(0, block)
    values = tl.load(x + at, mask=at < size, other=0.0)
    values = tl.where(tl.rand(seed, at) < share, 0.0, values / (1 - share))
    tl.store(y + at, values, mask=at < size)
    tl.atomic_add(total, tl.sum(values, 0))


x = torch.ones(1 << 20, device="cuda")
y, total = torch.empty_like(x), torch.zeros(1, device="cuda")
for seed in range(10):
    drop[(triton.cdiv(x.numel(), 1024),)](x, y, total, x.numel(), 0.25, seed, block=1024)
print("kept", int((y > 0).sum()), f"mean {total.item() / x.numel() / 10:.2f}")
