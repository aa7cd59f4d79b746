"""Factors batches of matrices: Cholesky, LU, QR, SVD, eigenvalues, and solves with them."""

import torch

torch.manual_seed(0)
matrices = torch.randn(32, 24, 24, device="cuda", dtype=torch.double)
symmetric = matrices @ matrices.mT + 24 * torch.eye(24, device="cuda", dtype=torch.double)
right = torch.randn(32, 24, 3, device="cuda", dtype=torch.double)
by_cholesky = torch.cholesky_solve(right, torch.linalg.cholesky(symmetric))
by_lu = torch.linalg.solve(symmetric, right)
q, r = torch.linalg.qr(matrices)
values = torch.linalg.svdvals(matrices)
eigenvalues = torch.linalg.eigvalsh(symmetric)
print("solutions agree", torch.allclose(by_cholesky, by_lu), "QR", torch.allclose(q @ r, matrices))
print(f"largest singular value {values.max().item():.4f}, least eigenvalue {eigenvalues.min().item():.4f}")
print(f"determinant {torch.linalg.slogdet(symmetric).logabsdet.sum().item():.3f}")
