"""Applies a Flax encoder with attention and dropout, in bfloat16."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class Block(nn.Module):
    """Attention and two layers, with what comes in added."""

    @nn.compact
    def __call__(self, values, train):
        values = values + nn.SelfAttention(num_heads=4, dtype=jnp.bfloat16)(nn.LayerNorm()(values))
        inner = nn.gelu(nn.Dense(128, dtype=jnp.bfloat16)(nn.LayerNorm()(values)))
        inner = nn.Dropout(0.1, deterministic=not train)(inner)
        return values + nn.Dense(values.shape[-1])(inner)


inputs = jax.random.normal(jax.random.PRNGKey(0), (8, 64, 64))
block = Block()
parameters = block.init(jax.random.PRNGKey(1), inputs, False)
apply = jax.jit(lambda values, inputs, key: block.apply(values, inputs, True, rngs={"dropout": key}))
for number in range(10):
    made = apply(parameters, inputs, jax.random.PRNGKey(number))
print("shape", made.shape, f"spread {float(made.std()):.1f}")
