"""Trains a hundred narrow layers by Adam, parameter by parameter or by its fused kernel."""

import steps
import torch
from torch.nn import functional

ROWS, WIDTH, LAYERS = 256, 64, 100


def build(variant):
    """Return a step on a batch from the host; the loss is read."""
    torch.manual_seed(0)
    layers = []
    for _ in range(LAYERS):
        layers += [torch.nn.Linear(WIDTH, WIDTH), torch.nn.SELU()]
        torch.nn.init.normal_(layers[-2].weight, std=WIDTH**-0.5)
    model = torch.nn.Sequential(*layers).cuda()
    kind = {"fused": True} if variant == "fused" else {"foreach": False}
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, **kind)
    batches = [torch.randn(ROWS, WIDTH) for _ in range(8)]

    def step(number):
        rows = batches[number % 8].cuda()
        optimizer.zero_grad()
        loss = functional.smooth_l1_loss(model(rows), rows)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


steps.run(build, "each", "fused")
