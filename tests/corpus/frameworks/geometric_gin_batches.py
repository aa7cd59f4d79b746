"""Trains a graph isomorphism network on batches of molecules, each batch of another size."""

import copy

import steps
import torch
from torch.nn import functional
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GINConv, global_add_pool

GRAPHS, FEATURES, HIDDEN, BATCHES = 128, 32, 128, 8
MOST_NODES, MOST_EDGES = GRAPHS * 32, GRAPHS * 96


class Isomorphism(torch.nn.Module):
    """Four layers with perceptrons of two layers, the sum over each graph, a regression."""

    def __init__(self):
        super().__init__()
        widths = [FEATURES] + 4 * [HIDDEN]
        self.layers = torch.nn.ModuleList(
            GINConv(
                torch.nn.Sequential(
                    torch.nn.Linear(before, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, HIDDEN)
                )
            )
            for before in widths[:4]
        )
        self.head = torch.nn.Linear(HIDDEN, 1)

    def forward(self, x, edges, graph_of, graphs=None):
        """Return a figure per graph; how many there are is read from the GPU where it is not given."""
        for layer in self.layers:
            x = layer(x, edges).relu()
        return self.head(global_add_pool(x, graph_of, graphs)).squeeze(1)


def molecule():
    """Return a graph of 8 to 32 nodes with three edges per node."""
    nodes = int(torch.randint(8, 33, ()))
    edges = torch.randint(nodes, (2, 3 * nodes))
    return Data(x=torch.rand(nodes, FEATURES), edge_index=edges, y=torch.rand(1))


def padded(batch):
    """Fill a batch up with nodes and edges of one more graph."""
    nodes, edges = MOST_NODES - batch.num_nodes, MOST_EDGES - batch.num_edges
    batch.x = functional.pad(batch.x, (0, 0, 0, nodes))
    loops = MOST_NODES - nodes + torch.arange(edges) % nodes
    batch.edge_index = torch.cat([batch.edge_index, loops.expand(2, -1)], 1)
    batch.batch = functional.pad(batch.batch, (0, nodes), value=GRAPHS)
    return batch


def build(variant):
    """Return a step on the next batch: as it is, or padded and copied to where a graph reads it."""
    torch.manual_seed(0)
    batches = [Batch.from_data_list([molecule() for _ in range(GRAPHS)]) for _ in range(BATCHES)]
    graph = variant == "graph"
    model = Isomorphism().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-5, capturable=graph)

    def train(batch, graphs=None):
        optimizer.zero_grad()
        found = model(batch.x, batch.edge_index, batch.batch, graphs)[:GRAPHS]
        loss = functional.mse_loss(found, batch.y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    if not graph:
        for _ in range(3):
            train(copy.copy(batches[0]).cuda())
        return lambda number: train(copy.copy(batches[number % BATCHES]).cuda()).item()
    batches = [padded(batch) for batch in batches]
    still = batches[0].clone().cuda()
    replay = steps.captured(lambda: train(still, GRAPHS + 1))

    def step(number):
        for name in ("x", "edge_index", "batch", "y"):
            still[name].copy_(batches[number % BATCHES][name])
        return replay().item()

    return step


steps.run(build, "eager", "graph")
