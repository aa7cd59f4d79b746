"""Draws 64 tokens from a recurrent network, one call of a jitted function each; the host reads each token."""

import os

os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
# pylint: disable=wrong-import-position
import jax
import jax.numpy as jnp
import steps

HIDDEN = 1024
VOCABULARY = 8192
TOKENS = 64


def next_token(weights, state, token):
    """Return the state after a token, and the likeliest token to follow."""
    given = weights["embedding"][token] @ weights["input"]
    kept = state @ weights["recurrent"]
    reset = jax.nn.sigmoid(given[:HIDDEN] + kept[:HIDDEN])
    update = jax.nn.sigmoid(given[HIDDEN : 2 * HIDDEN] + kept[HIDDEN : 2 * HIDDEN])
    proposed = jnp.tanh(given[2 * HIDDEN :] + reset * kept[2 * HIDDEN :])
    state = update * state + (1.0 - update) * proposed
    return state, jnp.argmax(state @ weights["output"])


def build(variant):
    """Return a step: 64 tokens after a first one."""
    shapes = {
        "embedding": (VOCABULARY, 512),
        "input": (512, 3 * HIDDEN),
        "recurrent": (HIDDEN, 3 * HIDDEN),
        "output": (HIDDEN, VOCABULARY),
    }
    keys = jax.random.split(jax.random.key(0), len(shapes))
    weights = {
        name: jax.random.normal(key, shape) * shape[0] ** -0.5
        for key, (name, shape) in zip(keys, shapes.items())
    }
    weights["embedding"] *= 30.0
    start = jnp.zeros(HIDDEN)
    advance = jax.jit(next_token)

    @jax.jit
    def decode(weights, state, token):
        def body(carry, _):
            state, token = next_token(weights, *carry)
            return (state, token), token

        return jax.lax.scan(body, (state, token), length=TOKENS)[1]

    def step(number):
        token = number % VOCABULARY
        if variant == "scan":
            tokens = [int(token) for token in jax.device_get(decode(weights, start, jnp.int32(token)))]
        else:
            tokens, state = [], start
            for _ in range(TOKENS):
                state, token = advance(weights, state, token)
                token = int(token)
                tokens.append(token)
        return sum(tokens)

    return step


steps.run(build, "eager", "scan", synchronize=lambda: jax.block_until_ready(jax.live_arrays()))
