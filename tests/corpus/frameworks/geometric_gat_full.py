"""Trains a graph attention network on one small citation graph, all nodes in each step."""

import steps
import torch
from torch.nn import functional
from torch_geometric.nn import GATConv
from torch_geometric.utils import add_self_loops

NODES, EDGES, WORDS, CLASSES = 2708, 10556, 1433, 7


class Attention(torch.nn.Module):
    """Two layers of attention with dropout before each; the graph brings its self loops."""

    def __init__(self):
        super().__init__()
        self.first = GATConv(WORDS, 8, heads=8, dropout=0.6, add_self_loops=False)
        self.second = GATConv(64, CLASSES, heads=1, dropout=0.6, add_self_loops=False)

    def forward(self, words, edges):
        """Return the logits of all nodes."""
        hidden = functional.elu(self.first(functional.dropout(words, 0.6, self.training), edges))
        return self.second(functional.dropout(hidden, 0.6, self.training), edges)


def build(variant):
    """Return a step: one epoch, whose loss is read."""
    torch.manual_seed(0)
    words = (torch.rand(NODES, WORDS) < 0.013).float().cuda()
    edges = add_self_loops(torch.randint(NODES, (2, EDGES)), num_nodes=NODES)[0].cuda()
    classes = torch.randint(CLASSES, (NODES,), device="cuda")
    known = torch.arange(140, device="cuda")
    model = Attention().cuda()
    graph = variant == "graph"
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005, weight_decay=5e-4, capturable=graph)

    def train():
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(words, edges)[known], classes[known])
        loss.backward()
        optimizer.step()
        return loss.detach()

    train = steps.captured(train) if graph else train
    return lambda number: train().item()


steps.run(build, "eager", "graph")
