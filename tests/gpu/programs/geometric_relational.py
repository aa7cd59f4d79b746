"""Runs relational convolutions and a transformer layer over a graph with several kinds of edges."""

import torch
from torch_geometric.nn import RGCNConv, TransformerConv

torch.manual_seed(0)
nodes = 300
links = torch.randint(0, nodes, (2, 2400), device="cuda")
kinds = torch.randint(0, 4, (2400,), device="cuda")
features = torch.randn(nodes, 16, device="cuda")
first = RGCNConv(16, 32, num_relations=4, num_bases=2).cuda()
second = TransformerConv(32, 8, heads=2, edge_dim=4).cuda()
attributes = torch.nn.functional.one_hot(kinds, 4).float()
for _ in range(10):
    made = second(first(features, links, kinds).relu(), links, attributes)
    made.square().mean().backward()
print("shape", tuple(made.shape), f"mean square {made.square().mean().item():.2f}")
