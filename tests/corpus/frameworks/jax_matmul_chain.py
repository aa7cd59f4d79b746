"""Passes a large batch through six wide layers in bfloat16, jitted: tensor cores are busy all the time."""

import os

os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
# pylint: disable=wrong-import-position
import jax
import jax.numpy as jnp
import steps

WIDTH = 8192
LAYERS = 6


@jax.jit
def forward(matrices, batch):
    """Return the mean square after all layers."""
    for matrix in matrices:
        batch = jax.nn.gelu(batch @ matrix)
    return jnp.mean(batch.astype(jnp.float32) ** 2)


def build(_):
    """Return a step: all layers, and one number of them."""
    keys = jax.random.split(jax.random.key(0), LAYERS + 1)
    matrices = [jax.random.normal(key, (WIDTH, WIDTH), jnp.bfloat16) * WIDTH**-0.5 for key in keys[1:]]
    batch = jax.random.normal(keys[0], (WIDTH, WIDTH), jnp.bfloat16)
    return lambda _: float(forward(matrices, batch))


steps.run(build, "eager", synchronize=lambda: jax.block_until_ready(jax.live_arrays()))
