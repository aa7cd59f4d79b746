"""Trains a graph attention network on a random graph."""

import torch
from torch_geometric.nn import GATConv

torch.manual_seed(0)
nodes, edges = 500, 4000
links = torch.randint(0, nodes, (2, edges), device="cuda")
features = torch.randn(nodes, 32, device="cuda")
labels = torch.randint(0, 5, (nodes,), device="cuda")
first, second = GATConv(32, 16, heads=4).cuda(), GATConv(64, 5, heads=1).cuda()
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=5e-3)
for _ in range(20):
    scores = second(torch.nn.functional.elu(first(features, links)), links)
    loss = torch.nn.functional.cross_entropy(scores, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.1f}")
