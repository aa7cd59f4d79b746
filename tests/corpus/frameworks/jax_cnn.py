"""Trains a convolutional network of flax; NumPy normalizes and flips each batch of images on the host."""

import os

os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
# pylint: disable=wrong-import-position
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy
import optax
import steps

BATCH = 256
PHOTOS = 4096
MEAN = numpy.array([0.48, 0.46, 0.41], numpy.float32)
DEVIATION = numpy.array([0.27, 0.26, 0.28], numpy.float32)
optimizer = optax.sgd(0.05, momentum=0.9)


class Network(nn.Module):
    """Three convolutions and two dense layers."""

    @nn.compact
    def __call__(self, images):
        hidden = images
        for channels in (32, 64, 128):
            hidden = nn.relu(nn.Conv(channels, (3, 3))(hidden))
            hidden = nn.max_pool(hidden, (2, 2), strides=(2, 2))
        hidden = nn.relu(nn.Dense(256)(hidden.mean((1, 2))))
        return nn.Dense(100)(hidden)


def prepare(images, flips, arrays):
    """Return images as the network wants them, by the functions of NumPy or of JAX."""
    images = (images.astype(arrays.float32) / 255.0 - MEAN) / DEVIATION
    return arrays.where(flips[:, None, None, None], images[:, :, ::-1, :], images)


def build(variant):
    """Return a step: a batch of the host's photographs, and the update by it."""
    network = Network()
    random = numpy.random.default_rng(0)
    photos = random.integers(0, 256, (PHOTOS, 64, 64, 3), numpy.uint8)
    labels = random.integers(0, 100, PHOTOS, numpy.int32)
    weights = network.init(jax.random.key(0), jnp.zeros((1, 64, 64, 3)))
    moments = optimizer.init(weights)

    def loss_of(weights, images, targets):
        logits = network.apply(weights, images)
        return optax.softmax_cross_entropy_with_integer_labels(logits, targets).mean()

    @jax.jit
    def train(weights, moments, images, flips, targets):
        if variant == "on_gpu":
            images = prepare(images, flips, jnp)
        loss, gradients = jax.value_and_grad(loss_of)(weights, images, targets)
        changes, moments = optimizer.update(gradients, moments, weights)
        return optax.apply_updates(weights, changes), moments, loss

    last_loss = 0.0

    def step(number):
        nonlocal weights, moments, last_loss
        chosen = random.integers(0, PHOTOS, BATCH)
        images, flips = photos[chosen], random.random(BATCH) < 0.5
        if variant == "eager":
            images = prepare(images, flips, numpy)
        weights, moments, loss = train(weights, moments, images, flips, labels[chosen])
        if number % 20 == 19:
            last_loss = float(loss)
        return last_loss

    return step


steps.run(build, "eager", "on_gpu", synchronize=lambda: jax.block_until_ready(jax.live_arrays()))
