"""Networks as these papers have them, where the lab's own differ in a detail."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from ....networks import MLP
from ....networks.mlp import FeedForward


class WithoutOutputBias(eqx.Module):
    """Recipe of an MLP whose output bias starts at 0; given no rate it stays there."""

    recipe: MLP

    def __call__(self, n: int, *, key: PRNGKeyArray) -> FeedForward:
        made = self.recipe(n, key=key)
        zeroed: FeedForward = eqx.tree_at(lambda network: network.output.bias, made, jnp.zeros_like(made.output.bias))
        return zeroed
