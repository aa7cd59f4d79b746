"""Trains wide feed-forward blocks in BF16 with a fused optimizer."""

import steps
import torch
from torch.nn import functional

ROWS, WIDTH, HIDDEN, BLOCKS = 8192, 4096, 16_384, 2


class Block(torch.nn.Module):
    """Adds a wide perceptron of its normalized input."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(WIDTH)
        self.wide, self.narrow = torch.nn.Linear(WIDTH, HIDDEN), torch.nn.Linear(HIDDEN, WIDTH)

    def forward(self, x):
        """Return x with what the block adds."""
        return x + self.narrow(functional.gelu(self.wide(self.norm(x))))


def build(_):
    """Return a step, whose loss is read every tenth time."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(*(Block() for _ in range(BLOCKS))).to("cuda", torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    rows = torch.randn(4, ROWS, WIDTH, device="cuda", dtype=torch.bfloat16)
    losses = []

    def step(number):
        loss = functional.mse_loss(model(rows[number % 4]), rows[(number + 1) % 4])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if number % 10 == 0:
            losses.append(loss.item())
        return loss.detach()

    return step


steps.run(build, "eager")
