"""Trains a generator of table rows against a critic; both losses are read every step."""

import steps
import torch
from torch.nn import functional

ROWS, COLUMNS, NOISE, WIDTH = 512, 32, 64, 256


def perceptron(inputs, outputs):
    """Return three layers with normalization between."""
    layers = []
    for before in (inputs, WIDTH):
        layers += [torch.nn.Linear(before, WIDTH), torch.nn.LayerNorm(WIDTH), torch.nn.LeakyReLU(0.2)]
    return torch.nn.Sequential(*layers, torch.nn.Linear(WIDTH, outputs)).cuda()


def build(variant):
    """Return a step: the critic learns, then the generator."""
    torch.manual_seed(0)
    graph = variant == "graph"
    table = [torch.randn(ROWS, COLUMNS).cumsum(1) for _ in range(16)]
    true = torch.zeros(ROWS, COLUMNS, device="cuda")
    generator, critic = perceptron(NOISE, COLUMNS), perceptron(COLUMNS, 1)
    makers = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999), capturable=graph)
    judges = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999), capturable=graph)

    def train(true):
        made = generator(torch.randn(ROWS, NOISE, device="cuda"))
        judges.zero_grad()
        judged = functional.softplus(critic(made.detach())).mean() + functional.softplus(-critic(true)).mean()
        judged.backward()
        judges.step()
        makers.zero_grad()
        fooled = functional.softplus(-critic(made)).mean()
        fooled.backward()
        makers.step()
        return judged.detach(), fooled.detach()

    replay = steps.captured(lambda: train(true)) if graph else None

    def step(number):
        rows = table[number % len(table)]
        if graph:
            true.copy_(rows)
        judged, fooled = replay() if graph else train(rows.cuda())
        return judged.item() + fooled.item()

    return step


steps.run(build, "eager", "graph")
