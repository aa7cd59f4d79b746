"""Predicts links by GraphSAGE, with negative samples drawn each step."""

import torch
from torch_geometric.nn import SAGEConv
from torch_geometric.utils import negative_sampling

torch.manual_seed(0)
nodes = 400
links = torch.randint(0, nodes, (2, 3000), device="cuda")
features = torch.randn(nodes, 32, device="cuda")
first, second = SAGEConv(32, 64).cuda(), SAGEConv(64, 32, aggr="max").cuda()
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=1e-2)
for _ in range(15):
    made = second(first(features, links).relu(), links)
    absent = negative_sampling(links, nodes, num_neg_samples=links.size(1))
    pairs = torch.cat([links, absent], 1)
    wanted = torch.cat([torch.ones(links.size(1)), torch.zeros(absent.size(1))]).cuda()
    scores = (made[pairs[0]] * made[pairs[1]]).sum(1)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(scores, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("finite", bool(torch.isfinite(loss)))
