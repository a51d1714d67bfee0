"""Points with independent coordinates, labelled by a target."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..cube import cube, random_signs
from ..demands import as_numbers, echo
from ..targets.base import AbstractTarget, check_target
from .base import AbstractDistribution, Examples, Support, check_draw


class Uniform(AbstractDistribution):
    """Uniform points of the cube."""

    target: AbstractTarget

    def __check_init__(self) -> None:
        check_target(self.target)

    @property
    def n(self) -> int:
        return self.target.n

    def sample(self, key: PRNGKeyArray, batch: int) -> Examples:
        check_draw(key, batch)
        x = random_signs(key, batch, self.n)
        return x, jax.vmap(self.target)(x)

    def support(self) -> Support:
        x = cube(self.n)
        return x, jax.vmap(self.target)(x), jnp.full(len(x), 1 / len(x))


class Product(AbstractDistribution):
    """Independent coordinates with E[x_i] = mean_i, one number for all or one for each.

    >>> from paritylab import Parity
    >>> Product(Parity(3, (0, 1)), mean=0.5).mean.tolist()
    [0.5, 0.5, 0.5]
    """

    target: AbstractTarget
    mean: Float[Array | np.ndarray, "*runs n"]

    def __init__(self, target: AbstractTarget, mean: float | np.ndarray | list[float]):
        check_target(target)
        given = as_numbers("mean", mean)
        if given.shape not in ((), (target.n,)):
            raise ValueError(
                f"`Product` needs one mean, or one for each of n={target.n} coordinates, got {given.size}."
            )
        means = np.broadcast_to(given, (target.n,))
        if not np.all(np.abs(means) <= 1):
            raise ValueError(f"`Product` needs means between -1 and 1, got mean={echo(mean)}.")
        self.target = target
        self.mean = np.array(means)

    @property
    def n(self) -> int:
        return self.target.n

    def sample(self, key: PRNGKeyArray, batch: int) -> Examples:
        check_draw(key, batch)
        up = (1 + jnp.asarray(self.mean, jnp.float32)) / 2
        uniform = jr.uniform(key, (batch, self.n), jnp.float32)
        x = jnp.where(uniform < up[None], 1.0, -1.0).astype(jnp.float32)
        return x, jax.vmap(self.target)(x)

    def support(self) -> Support:
        x = cube(self.n)
        probability = jnp.prod((1 + jnp.asarray(self.mean, x.dtype)[None] * x) / 2, axis=1)
        return x, jax.vmap(self.target)(x), probability
