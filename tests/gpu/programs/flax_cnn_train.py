"""Trains a convolutional network in Flax on random images."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Network(nn.Module):
    """Two convolutions, a pool and a layer."""

    @nn.compact
    def __call__(self, images):
        images = nn.relu(nn.Conv(16, (3, 3))(images))
        images = nn.avg_pool(images, (2, 2), (2, 2))
        images = nn.relu(nn.Conv(32, (3, 3))(images))
        return nn.Dense(10)(images.mean((1, 2)))


images = jax.random.normal(jax.random.PRNGKey(0), (32, 24, 24, 3))
labels = jnp.arange(32) % 10
network = Network()
parameters = network.init(jax.random.PRNGKey(1), images)
optimizer = optax.sgd(1e-2, momentum=0.9)
state = optimizer.init(parameters)


@jax.jit
def step(values, state):
    """Take a step."""
    def loss_of(values):
        return optax.softmax_cross_entropy_with_integer_labels(network.apply(values, images), labels).mean()
    loss, gradient = jax.value_and_grad(loss_of)(values)
    updates, state = optimizer.update(gradient, state)
    return optax.apply_updates(values, updates), state, loss


for _ in range(20):
    parameters, state, loss = step(parameters, state)
print(f"loss {float(loss):.1f}")
