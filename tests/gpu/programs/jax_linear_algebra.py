"""Decomposes and solves matrices in JAX: SVD, Cholesky, QR, FFT, sort."""

import jax
import jax.numpy as jnp

key = jax.random.PRNGKey(0)
matrix = jax.random.normal(key, (96, 96))
symmetric = matrix @ matrix.T + 96 * jnp.eye(96)
values = jnp.linalg.svd(matrix, compute_uv=False)
solution = jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(symmetric), matrix)
q, r = jnp.linalg.qr(matrix)
spectrum = jnp.fft.fft2(matrix)
print("solved", bool(jnp.allclose(symmetric @ solution, matrix, atol=1e-2)),
      "QR", bool(jnp.allclose(q @ r, matrix, atol=1e-3)), "values", values.shape,
      "spectrum", spectrum.shape, "sorted", bool((jnp.diff(jnp.sort(matrix.ravel())) >= 0).all()))
