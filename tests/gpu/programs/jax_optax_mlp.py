"""Trains a network in JAX with Optax, a step compiled at a time."""

import jax
import jax.numpy as jnp
import optax

key = jax.random.PRNGKey(0)
first, second, data = jax.random.split(key, 3)
parameters = {"in": jax.random.normal(first, (32, 64)) * 0.1, "out": jax.random.normal(second, (64, 1)) * 0.1}
inputs = jax.random.normal(data, (256, 32))
wanted = inputs.sum(1, keepdims=True)
optimizer = optax.adam(1e-3)
state = optimizer.init(parameters)


def loss_of(values):
    """Return the mean square of what is missing."""
    return jnp.mean((jax.nn.relu(inputs @ values["in"]) @ values["out"] - wanted) ** 2)


@jax.jit
def step(values, state):
    """Take a step."""
    loss, gradient = jax.value_and_grad(loss_of)(values)
    updates, state = optimizer.update(gradient, state)
    return optax.apply_updates(values, updates), state, loss


for _ in range(100):
    parameters, state, loss = step(parameters, state)
print(f"loss {float(loss):.1f}")
