"""Computes softmax by a Triton kernel, a row per program."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax(made, given, columns, block: tl.constexpr):
    """Normalize a row."""
    row = tl.program_id(0)
    at = tl.arange(0, block)
    values = tl.load(given + row * columns + at, mask=at < columns, other=-float("inf"))
    values = tl.exp(values - tl.max(values, 0))
    tl.store(made + row * columns + at, values / tl.sum(values, 0), mask=at < columns)


torch.manual_seed(0)
x = torch.randn(1024, 700, device="cuda")
y = torch.empty_like(x)
for _ in range(20):
    softmax[(1024,)](y, x, 700, block=1024)
print("same", torch.allclose(y, torch.softmax(x, 1), atol=1e-5))
