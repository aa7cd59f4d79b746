"""Moves bodies that attract each other, by vmap and fori_loop, in double precision."""

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)
place = jax.random.normal(jax.random.PRNGKey(0), (256, 3), dtype=jnp.float64)
speed = jnp.zeros_like(place)


def pull(one, all_places):
    """Return what accelerates one body."""
    apart = all_places - one
    return (apart / (jnp.sum(apart**2, 1, keepdims=True) + 0.1) ** 1.5).sum(0)


@jax.jit
def move(place, speed):
    """Take a hundred steps."""
    def step(_, state):
        place, speed = state
        speed = speed + 1e-4 * jax.vmap(pull, (0, None))(place, place)
        return place + 1e-3 * speed, speed
    return jax.lax.fori_loop(0, 100, step, (place, speed))


place, speed = move(place, speed)
print(f"momentum is kept {bool(jnp.abs(speed.sum(0)).max() < 1e-6)}, spread {float(place.std()):.4f}")
