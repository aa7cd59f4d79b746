"""Classifies points by dynamic edge convolutions: neighbors are found anew in each layer."""

import torch
from torch_geometric.nn import EdgeConv, global_max_pool

torch.manual_seed(0)


def neighbors(points, count):
    """Return the edges from each point's nearest ones."""
    near = torch.cdist(points, points).topk(count + 1, largest=False).indices[:, 1:]
    to = torch.arange(len(points), device=points.device).repeat_interleave(count)
    return torch.stack([near.reshape(-1), to])


layers = [EdgeConv(torch.nn.Sequential(torch.nn.Linear(2 * width, 32), torch.nn.ReLU())).cuda()
          for width in (3, 32)]
points = torch.randn(1024, 3, device="cuda")
batch = torch.zeros(1024, dtype=torch.long, device="cuda")
with torch.no_grad():
    for _ in range(5):
        features = points
        for layer in layers:
            features = layer(features, neighbors(features, 8))
        pooled = global_max_pool(features, batch)
print("pooled", tuple(pooled.shape))
