"""Solves a sparse system by conjugate gradients in CuPy."""

import cupy
import cupyx.scipy.sparse as sparse
import cupyx.scipy.sparse.linalg as linalg

size = 64
line = sparse.diags([-cupy.ones(size - 1), 2 * cupy.ones(size), -cupy.ones(size - 1)], [-1, 0, 1])
one = sparse.identity(size)
matrix = (sparse.kron(line, one) + sparse.kron(one, line)).tocsr()
right = cupy.ones(size * size)
solution, code = linalg.cg(matrix, right, maxiter=300)
left = cupy.linalg.norm(matrix @ solution - right) / cupy.linalg.norm(right)
print("code", code, "solved", bool(left < 1e-2))
