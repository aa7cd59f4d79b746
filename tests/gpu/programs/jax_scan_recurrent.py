"""Runs a recurrent network over a sequence by lax.scan, and its gradient."""

import jax
import jax.numpy as jnp

key = jax.random.PRNGKey(0)
weights = jax.random.normal(key, (64, 64)) * 0.05
sequence = jax.random.normal(key, (100, 32, 64))


def loss_of(weights):
    """Return the mean of the last state."""
    def step(state, inputs):
        state = jnp.tanh(state @ weights + inputs)
        return state, state.mean()
    state, means = jax.lax.scan(step, jnp.zeros((32, 64)), sequence)
    return jnp.mean(state**2) + means[-1]


value, gradient = jax.jit(jax.value_and_grad(loss_of))(weights)
print(f"value {float(value):.2f}, gradient {gradient.shape}")
