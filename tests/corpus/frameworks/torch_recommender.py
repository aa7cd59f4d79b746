"""Scores candidates by embedding tables on the GPU; ids come from pageable or from pinned memory."""

import steps
import torch

TABLES, ROWS, WIDTH, BATCH, DENSE, BATCHES = 26, 500_000, 64, 65_536, 13, 4


class Recommender(torch.nn.Module):
    """A perceptron of dense features, a table per id, products of all pairs, a perceptron of those."""

    def __init__(self):
        super().__init__()
        linear, relu = torch.nn.Linear, torch.nn.ReLU
        tables = (torch.nn.Embedding(ROWS, WIDTH, device="cuda") for _ in range(TABLES))
        self.tables = torch.nn.ModuleList(tables)
        self.bottom = torch.nn.Sequential(linear(DENSE, 128), relu(), linear(128, WIDTH), relu())
        pairs = (TABLES + 1) * TABLES // 2
        self.top = torch.nn.Sequential(linear(WIDTH + pairs, 128), relu(), linear(128, 1), torch.nn.Sigmoid())
        self.register_buffer("pairs", torch.tril_indices(TABLES + 1, TABLES + 1, -1))

    def forward(self, dense, ids):
        """Return a score per row."""
        dense = self.bottom(dense)
        vectors = torch.stack([dense] + [table(ids[i]) for i, table in enumerate(self.tables)], 1)
        products = torch.bmm(vectors, vectors.transpose(1, 2))[:, self.pairs[0], self.pairs[1]]
        return self.top(torch.cat([dense, products], 1)).squeeze(1)


def build(variant):
    """Return a step: a batch to the GPU, its scores back."""
    torch.manual_seed(0)
    pinned = variant == "pinned"
    batches = [(torch.rand(BATCH, DENSE), torch.randint(ROWS, (TABLES, BATCH))) for _ in range(BATCHES)]
    if pinned:
        batches = [tuple(part.pin_memory() for part in batch) for batch in batches]
    model = Recommender().cuda().eval()

    @torch.inference_mode()
    def step(number):
        dense, ids = (part.cuda(non_blocking=pinned) for part in batches[number % BATCHES])
        return model(dense, ids).cpu()

    return step


steps.run(build, "pageable", "pinned")
