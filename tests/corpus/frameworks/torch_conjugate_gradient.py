"""Solves a heat step by conjugate gradients; the residual is tested in each or in each tenth iteration."""

import steps
import torch

SIDE, SHIFT, TOLERANCE, MOST = 1024, 0.08, 1e-5, 400


def heat_matrix():
    """Return the five-point Laplacian of a square plus a shift, in CSR."""
    cells = torch.arange(SIDE * SIDE)
    rows, columns = cells // SIDE, cells % SIDE
    entries = [(cells, cells, 4 + SHIFT)]
    inner = ((-SIDE, rows > 0), (-1, columns > 0), (1, columns < SIDE - 1), (SIDE, rows < SIDE - 1))
    for offset, inside in inner:
        entries.append((cells[inside], cells[inside] + offset, -1.0))
    places = torch.stack([torch.cat([entry[i] for entry in entries]) for i in range(2)])
    values = torch.cat([torch.full((len(row),), value) for row, _, value in entries])
    return torch.sparse_coo_tensor(places, values, (SIDE * SIDE, SIDE * SIDE)).coalesce().to_sparse_csr()


def build(variant):
    """Return a step: one solution; the residual is tested in each or in each tenth iteration."""
    torch.manual_seed(0)
    matrix, rights = heat_matrix().cuda(), [torch.rand(SIDE * SIDE, device="cuda") for _ in range(4)]
    read = (lambda scalar: scalar) if variant == "seldom" else torch.Tensor.item
    every = 10 if variant == "seldom" else 1

    def step(number):
        residual = rights[number % 4].clone()
        found, direction = torch.zeros_like(residual), residual.clone()
        square = residual.dot(residual)
        enough = TOLERANCE**2 * square.item()
        for iteration in range(1, MOST):
            product = matrix @ direction
            share = read(square / direction.dot(product))
            found += share * direction
            residual -= share * product
            before, square = square, residual.dot(residual)
            if iteration % every == 0 and square.item() < enough:
                break
            direction = residual + read(square / before) * direction
        return found

    return step


steps.run(build, "each", "seldom")
