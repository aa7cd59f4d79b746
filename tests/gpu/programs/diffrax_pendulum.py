"""Integrates pendulums by Diffrax with steps of adaptive length."""

import diffrax
import jax
import jax.numpy as jnp


def speed(_, state, length):
    """Return how angle and spin change."""
    angle, spin = state
    return spin, -9.8 / length * jnp.sin(angle)


@jax.jit
def swing(length):
    """Return where a pendulum is after two seconds."""
    made = diffrax.diffeqsolve(diffrax.ODETerm(speed), diffrax.Tsit5(), 0.0, 2.0, 0.01,
                               (jnp.array(1.0), jnp.array(0.0)), args=length,
                               stepsize_controller=diffrax.PIDController(rtol=1e-4, atol=1e-4))
    return made.ys[0][-1]


angles = jax.vmap(swing)(jnp.linspace(0.5, 2.0, 64))
print("angles", angles.shape, f"sum {float(angles.sum()):.1f}")
