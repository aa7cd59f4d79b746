"""Trains three dense layers with a jitted step of optax, and reads the loss in each of 50 iterations."""

import os

os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
# pylint: disable=wrong-import-position
import jax
import jax.numpy as jnp
import optax
import steps

SIZES = (784, 512, 512, 10)
ITERATIONS = 50
optimizer = optax.adam(1e-5)


def loss_of(weights, images, labels):
    """Return the loss of a batch."""
    hidden = images
    for matrix, bias in weights[:-1]:
        hidden = jax.nn.relu(hidden @ matrix + bias)
    logits = hidden @ weights[-1][0] + weights[-1][1]
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def update(state, batch):
    """Return weights and moments after a batch, and its loss."""
    weights, moments = state
    loss, gradients = jax.value_and_grad(loss_of)(weights, *batch)
    changes, moments = optimizer.update(gradients, moments, weights)
    return (optax.apply_updates(weights, changes), moments), loss


def build(variant):
    """Return a step: 50 iterations of training."""
    keys = jax.random.split(jax.random.key(0), 5)
    weights = [
        (jax.random.normal(key, (rows, columns)) * rows**-0.5, jnp.zeros(columns))
        for key, rows, columns in zip(keys, SIZES, SIZES[1:])
    ]
    images = jax.random.normal(keys[3], (ITERATIONS, 256, SIZES[0]))
    labels = jax.random.randint(keys[4], (ITERATIONS, 256), 0, SIZES[-1])
    batches = [(images[i], labels[i]) for i in range(ITERATIONS)]
    state = (weights, optimizer.init(weights))
    train = jax.jit(update)

    @jax.jit
    def train_all(state):
        state, losses = jax.lax.scan(update, state, (images, labels))
        return state, losses[-1]

    def step(_):
        nonlocal state
        if variant == "scan":
            state, loss = train_all(state)
        else:
            for batch in batches:
                state, loss = train(state, batch)
                if variant == "eager":
                    loss = float(loss)
        return float(loss)

    return step


steps.run(build, "eager", "rarely", "scan", synchronize=lambda: jax.block_until_ready(jax.live_arrays()))
