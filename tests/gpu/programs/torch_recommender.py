"""Trains a recommender: embeddings of categories by bags, sparse gradients, and their products."""

import torch

torch.manual_seed(0)
tables = [torch.nn.EmbeddingBag(5000, 32, mode="sum", sparse=True).cuda() for _ in range(6)]
top = torch.nn.Sequential(torch.nn.Linear(15 + 32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1)).cuda()
bottom = torch.nn.Linear(8, 32).cuda()
sparse = torch.optim.SGD([table.weight for table in tables], lr=0.1)
dense = torch.optim.Adagrad([*top.parameters(), *bottom.parameters()], lr=0.01)
rows, columns = torch.triu_indices(6, 6, 1, device="cuda")
for _ in range(15):
    numbers = torch.randn(256, 8, device="cuda")
    chosen = torch.randint(0, 5000, (6, 256, 4), device="cuda")
    vectors = torch.stack([table(one) for table, one in zip(tables, chosen)], 1)
    products = torch.bmm(vectors, vectors.mT)[:, rows, columns]
    scores = top(torch.cat([bottom(numbers), products], 1))[:, 0]
    loss = torch.nn.functional.binary_cross_entropy_with_logits(scores, (numbers[:, 0] > 0).float())
    for optimizer in (sparse, dense):
        optimizer.zero_grad()
    loss.backward()
    for optimizer in (sparse, dense):
        optimizer.step()
print("products", tuple(products.shape), "finite", bool(torch.isfinite(loss)))
