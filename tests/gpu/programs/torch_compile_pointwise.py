"""Compiles chains of pointwise operations and reductions into fused kernels."""

import torch

torch.manual_seed(0)


@torch.compile
def fused(x, scale, shift):
    """Normalize, scale and squash."""
    mean, deviation = x.mean(-1, keepdim=True), x.std(-1, keepdim=True)
    return torch.sigmoid((x - mean) / (deviation + 1e-5) * scale + shift).sum(0)


x = torch.randn(512, 256, device="cuda")
scale, shift = torch.randn(256, device="cuda"), torch.randn(256, device="cuda")
for _ in range(10):
    made = fused(x, scale, shift)
print("shape", tuple(made.shape), f"mean {made.mean().item():.1f}")
