"""Runs scaled dot-product attention by each of its kernels, forward and backward."""

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

torch.manual_seed(0)
shape = (4, 8, 256, 64)
q, k, v = (torch.randn(shape, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
made = {}
for backend in (SDPBackend.MATH, SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION):
    with sdpa_kernel(backend):
        for _ in range(5):
            made[backend.name] = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            made[backend.name].float().square().mean().backward()
first = made["MATH"]
print({name: torch.allclose(first, other, atol=0.03) for name, other in made.items()})
