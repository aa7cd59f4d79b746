"""Iterates PageRank on a sparse matrix, and multiplies matrices in CSR and COO form."""

import torch

torch.manual_seed(0)
nodes = 4000
links = torch.randint(0, nodes, (2, 40000), device="cuda")
weights = torch.ones(40000, device="cuda")
matrix = torch.sparse_coo_tensor(links, weights, (nodes, nodes)).coalesce()
outgoing = torch.sparse.sum(matrix, 0).to_dense().clamp(min=1)
rank = torch.full((nodes, 1), 1 / nodes, device="cuda")
rows = matrix.to_sparse_csr()
for _ in range(30):
    rank = 0.15 / nodes + 0.85 * (rows @ (rank / outgoing[:, None]))
dense = torch.randn(nodes, 16, device="cuda")
print("stored", matrix._nnz(), f"sum of ranks {rank.sum().item():.2f}",
      "agree", torch.allclose(rows @ dense, torch.sparse.mm(matrix, dense), atol=1e-3))
