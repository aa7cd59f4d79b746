"""Adds residuals and normalizes 16,384 rows of 8,192 values by one kernel of Triton that reads each once."""

import steps
import torch
import triton
import triton.language as tl

ROWS, COLUMNS = 16384, 8192


@triton.jit
def add_and_normalize(values, residuals, weights, results, length: tl.constexpr):
    """Add a row to its residuals, and store the sum divided by its root mean square."""
    columns = tl.arange(0, length)
    row = tl.program_id(0).to(tl.int64) * length + columns
    total = tl.load(values + row).to(tl.float32) + tl.load(residuals + row).to(tl.float32)
    tl.store(residuals + row, total.to(tl.bfloat16))
    scale = 1.0 / tl.sqrt(tl.sum(total * total) / length + 1e-6)
    tl.store(results + row, (total * scale * tl.load(weights + columns)).to(tl.bfloat16))


def build(_):
    """Return a step: sixteen layers' values, each added to the residuals."""
    torch.manual_seed(0)
    values = [torch.randn(ROWS, COLUMNS, device="cuda", dtype=torch.bfloat16) for _ in range(4)]
    weights = torch.ones(COLUMNS, device="cuda")
    residuals = torch.zeros_like(values[0])

    def step(_):
        residuals.zero_()
        for layer in range(16):
            results = torch.empty_like(residuals)
            add_and_normalize[(ROWS,)](
                values[layer % 4], residuals, weights, results, length=COLUMNS, num_warps=16
            )
        return results[0].float().sum()

    return step


steps.run(build, "eager")
