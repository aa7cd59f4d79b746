"""Trains GraphSAGE on neighborhoods that the host samples for each step."""

from concurrent.futures import ThreadPoolExecutor

import steps
import torch
from torch.nn import functional
from torch_geometric.nn import SAGEConv

NODES, DEGREE, FEATURES, CLASSES, SEEDS, AHEAD = 200_000, 25, 128, 40, 1024, 8


class Sampler:
    """Draws ten neighbors of each seed and ten of each of those, and numbers the nodes from zero."""

    def __init__(self):
        self.neighbors = torch.randint(NODES, (NODES, DEGREE))
        self.classes = torch.randint(CLASSES, (NODES,))

    def __call__(self, number):
        draws = torch.Generator().manual_seed(number)
        nodes = seeds = torch.randint(NODES, (SEEDS,), generator=draws)
        sources, targets = [], []
        for _ in range(2):
            columns = torch.randint(DEGREE, (len(nodes), 10), generator=draws)
            drawn = self.neighbors[nodes[:, None], columns]
            sources.append(drawn.flatten())
            targets.append(nodes.repeat_interleave(10))
            nodes = torch.cat([nodes, drawn.flatten()]).unique()
        edges = torch.stack([torch.searchsorted(nodes, torch.cat(ends)) for ends in (sources, targets)])
        return nodes, edges, torch.searchsorted(nodes, seeds), self.classes[seeds]


class Sage(torch.nn.Module):
    """Two layers of GraphSAGE."""

    def __init__(self):
        super().__init__()
        self.first, self.second = SAGEConv(FEATURES, 256), SAGEConv(256, CLASSES)

    def forward(self, features, edges):
        """Return the logits of all nodes of the batch."""
        return self.second(functional.dropout(self.first(features, edges).relu(), 0.5, self.training), edges)


def build(variant):
    """Return a step: a batch is sampled, or was sampled ahead by a thread, and trained on."""
    torch.manual_seed(0)
    sampler, model = Sampler(), Sage().cuda()
    all_features = torch.rand(NODES, FEATURES, device="cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    pool, batches = ThreadPoolExecutor(4, initializer=torch.set_num_threads, initargs=(1,)), {}

    def sampled_ahead(number):
        for coming in range(number, number + AHEAD):
            if coming not in batches:
                batches[coming] = pool.submit(sampler, coming)
        return batches.pop(number).result()

    sample = sampled_ahead if variant == "threads" else sampler

    def step(number):
        nodes, edges, wanted, classes = (part.cuda() for part in sample(number))
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(all_features[nodes], edges)[wanted], classes)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


steps.run(build, "eager", "threads")
