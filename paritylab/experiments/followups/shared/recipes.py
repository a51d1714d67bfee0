"""Networks as these papers have them, where the lab's own differ in a detail."""

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray
from scipy.stats import ortho_group

from ....cube import fair_signs
from ....distributions import AbstractDistribution
from ....distributions.base import Examples, Support
from ....networks import MLP, AbstractInitialization
from ....networks.mlp import FeedForward


class WithoutOutputBias(eqx.Module):
    """Recipe of an MLP whose output bias starts at 0; given no rate it stays there."""

    recipe: MLP

    def __call__(self, n: int, *, key: PRNGKeyArray) -> FeedForward:
        made = self.recipe(n, key=key)
        zeroed: FeedForward = eqx.tree_at(lambda network: network.output.bias, made, jnp.zeros_like(made.output.bias))
        return zeroed


def clipped(z: Float[Array, "..."]) -> Float[Array, "..."]:
    """clip(z, 0, 1)."""
    return jnp.clip(z, 0, 1)


class GaussiansThenZeros(AbstractInitialization):
    """N(0, 1 / fan-in) for weights and biases of the hidden layer, 0 for the output layer (2301.13105)."""

    def weights(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return jr.normal(key, shape, jnp.float32) * fan_in**-0.5

    def biases(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return self.weights(key, shape, fan_in) if shape else jnp.zeros(shape, jnp.float32)

    def outputs(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return jnp.zeros(shape, jnp.float32)


class SignsThenZeros(AbstractInitialization):
    """Signs for the hidden layer, without scaling; biases and outputs are 0 (2412.04910, for its theorems)."""

    def weights(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return fair_signs(key, shape)

    def biases(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return jnp.zeros(shape, jnp.float32)

    outputs = biases


class SignsEverywhere(AbstractInitialization):
    """Signs for hidden and output weights, without scaling; biases are 0 (2404.12376)."""

    def weights(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return fair_signs(key, shape)

    def biases(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return jnp.zeros(shape, jnp.float32)


class Rotated(AbstractDistribution):
    """The points of a distribution in another basis: multiplied by a random orthogonal matrix, drawn from a seed."""

    base: AbstractDistribution
    basis: Float[Array | np.ndarray, "n n"]

    def __init__(self, base: AbstractDistribution, seed: int):
        self.base = base
        self.basis = np.asarray(ortho_group.rvs(base.n, random_state=seed), np.float32)

    @property
    def n(self) -> int:
        return self.base.n

    def sample(self, key: PRNGKeyArray, batch: int) -> Examples:
        x, y = self.base.sample(key, batch)
        return x @ jnp.asarray(self.basis, jnp.float32), y

    def support(self) -> Support:
        x, y, probability = self.base.support()
        return x @ jnp.asarray(self.basis, x.dtype), y, probability
