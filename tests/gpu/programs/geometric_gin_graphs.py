"""Classifies batches of small graphs by a graph isomorphism network and pooling."""

import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GINConv, global_add_pool

torch.manual_seed(0)
graphs = [Data(x=torch.randn(12, 8), edge_index=torch.randint(0, 12, (2, 40)), y=torch.tensor([i % 3]))
          for i in range(96)]
layer = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 32))
convolve, classify = GINConv(layer).cuda(), torch.nn.Linear(32, 3).cuda()
optimizer = torch.optim.Adam([*convolve.parameters(), *classify.parameters()], lr=1e-3)
for epoch in range(3):
    for batch in DataLoader(graphs, batch_size=32):
        batch = batch.to("cuda")
        pooled = global_add_pool(convolve(batch.x, batch.edge_index).relu(), batch.batch)
        loss = torch.nn.functional.cross_entropy(classify(pooled), batch.y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print("pooled", tuple(pooled.shape))
