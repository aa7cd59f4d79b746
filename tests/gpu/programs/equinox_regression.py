"""Fits a function by an Equinox network, with filtered transformations."""

import equinox
import jax
import jax.numpy as jnp
import optax

network = equinox.nn.MLP(1, 1, 32, 2, key=jax.random.PRNGKey(0))
x = jnp.linspace(-1, 1, 128)[:, None]
y = jnp.sin(3 * x)
optimizer = optax.adamw(3e-3)
state = optimizer.init(equinox.filter(network, equinox.is_array))


@equinox.filter_jit
def step(network, state):
    """Take a step."""
    loss, gradient = equinox.filter_value_and_grad(lambda net: jnp.mean((jax.vmap(net)(x) - y) ** 2))(network)
    updates, state = optimizer.update(gradient, state, equinox.filter(network, equinox.is_array))
    return equinox.apply_updates(network, updates), state, loss


for _ in range(60):
    network, state, loss = step(network, state)
print(f"loss {float(loss):.1f}")
