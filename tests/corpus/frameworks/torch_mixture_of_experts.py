"""Infers with layers of experts: the rows of each expert are found one by one, or by one sort."""

import steps
import torch
from torch.nn import functional

TOKENS, WIDTH, EXPERTS, LAYERS = 2048, 512, 16, 4


class Experts(torch.nn.Module):
    """Sends each token through the best of 16 perceptrons."""

    def __init__(self, sort):
        super().__init__()
        linear = torch.nn.Linear
        self.sort, self.router = sort, linear(WIDTH, EXPERTS)
        self.experts = torch.nn.ModuleList(
            torch.nn.Sequential(linear(WIDTH, WIDTH), torch.nn.GELU(), linear(WIDTH, WIDTH))
            for _ in range(EXPERTS)
        )

    def rows(self, choice):
        """Return which rows each expert gets."""
        if not self.sort:
            for number in range(EXPERTS):
                yield torch.where(choice == number)[0]
            return
        counts = torch.zeros(EXPERTS, dtype=torch.long, device=choice.device)
        counts.scatter_add_(0, choice, torch.ones_like(choice))
        yield from choice.argsort(stable=True).split(counts.tolist())

    def forward(self, x):
        """Return x with what the experts add."""
        weight, choice = self.router(x).softmax(1).max(1)
        result = x.clone()
        for expert, rows in zip(self.experts, self.rows(choice)):
            if len(rows):
                result.index_add_(0, rows, expert(x[rows]) * weight[rows, None])
        return result


def build(variant):
    """Return a step: four layers on 2048 tokens."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(*(Experts(variant == "sorted") for _ in range(LAYERS))).cuda().eval()
    tokens = [torch.randn(TOKENS, WIDTH, device="cuda") for _ in range(4)]

    @torch.inference_mode()
    def step(number):
        return functional.normalize(model(tokens[number % 4])).abs()

    return step


steps.run(build, "searched", "sorted")
