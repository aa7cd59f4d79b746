"""Solves dense systems of 4,096 equations by Jacobi's method; the host tests after every iteration."""

import cupy
import steps

SIZE = 4096
TOLERANCE = 1e-4
MOST_ITERATIONS = 200


def solve(matrix, diagonal, right, tested_every):
    """Return the solution for a matrix without its diagonal."""
    solution = cupy.zeros_like(right)
    for iteration in range(1, MOST_ITERATIONS + 1):
        following = (right - matrix @ solution) / diagonal
        if iteration % tested_every == 0:
            if float(cupy.abs(following - solution).max()) < TOLERANCE:
                return following
        solution = following
    return solution


def build(variant):
    """Return a step: one of eight right sides."""
    random = cupy.random.RandomState(0)
    matrix = -random.uniform(0, 1, (SIZE, SIZE)).astype(cupy.float32)
    cupy.fill_diagonal(matrix, 0)
    diagonal = -matrix.sum(axis=1) / 0.85
    sides = random.uniform(0, 1, (8, SIZE)).astype(cupy.float32) * diagonal
    tested_every = 10 if variant == "every_10" else 1
    return lambda number: solve(matrix, diagonal, sides[number % 8], tested_every)


steps.run(build, "eager", "every_10", synchronize=cupy.cuda.runtime.deviceSynchronize)
