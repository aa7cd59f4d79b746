"""Moves 1,024 bodies by functions of jax.numpy that are not jitted, each dispatched on its own."""

import os

os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
# pylint: disable=wrong-import-position
import jax
import jax.numpy as jnp
import steps

BODIES = 1024
ITERATIONS = 10
TIME_STEP = 1e-3


def accelerations(positions, masses):
    """Return what pulls at each body, by the distances of all pairs."""
    offsets = positions[None, :, :] - positions[:, None, :]
    squares = jnp.sum(offsets**2, axis=-1) + 1e-2
    weights = masses[None, :] / (squares * jnp.sqrt(squares))
    return jnp.sum(weights[:, :, None] * offsets, axis=1)


def move(positions, velocities, masses):
    """Return positions and velocities after a time step of leapfrog."""
    velocities = velocities + 0.5 * TIME_STEP * accelerations(positions, masses)
    positions = positions + TIME_STEP * velocities
    velocities = velocities + 0.5 * TIME_STEP * accelerations(positions, masses)
    return positions, velocities


def energy_of(velocities, masses):
    """Return the kinetic energy."""
    return 0.5 * jnp.sum(masses * jnp.sum(velocities**2, axis=-1))


def build(variant):
    """Return a step: ten time steps, then the energy."""
    keys = jax.random.split(jax.random.key(0), 2)
    positions = jax.random.normal(keys[0], (BODIES, 3))
    velocities = 0.1 * jax.random.normal(keys[1], (BODIES, 3))
    masses = jnp.full(BODIES, 1.0 / BODIES)
    advance = jax.jit(move) if variant == "jit" else move

    def step(_):
        nonlocal positions, velocities
        for _ in range(ITERATIONS):
            positions, velocities = advance(positions, velocities, masses)
        return float(energy_of(velocities, masses))

    return step


steps.run(build, "eager", "jit", synchronize=lambda: jax.block_until_ready(jax.live_arrays()))
