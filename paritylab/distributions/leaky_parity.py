"""The leaky parity of learning-parities: half of the examples show which bits the label is the parity of.

D_A is an even mixture of the uniform distribution, on which no gradient method can find A (D_A^(1)), and of one
whose bits in A are all equal (D_A^(2)), on which every bit in A is the label. Points are +-1/sqrt(n).
"""

import dataclasses

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import PRNGKeyArray

from ..cube import cube, random_signs
from ..demands import check_kind, check_number
from ..targets import Parity, random_parity
from ..targets.parity import check_size
from .base import AbstractDistribution, Examples, Support, check_draw
from .inputs import Uniform
from .wrappers import Encoded, Mixture


class EqualBits(AbstractDistribution):
    """Uniform points, but for the bits of the parity: these are all equal to one fair sign, which is the label.

    The number of bits is odd; the parity of an even number of equal bits is always 1. (learning-parities,
    Section 2: D_A^(2).)

    >>> half = EqualBits(Parity(3, support=(0, 1, 2)))
    >>> half.support()[2].tolist()
    [0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5]
    """

    target: Parity

    def __check_init__(self) -> None:
        check_kind("target", self.target, Parity, "a parity, such as Parity(n, support)")
        mask = self.target.mask
        known = isinstance(mask, np.ndarray | jax.Array) and not isinstance(mask, jax.core.Tracer)
        if known and mask.ndim == 1 and (degree := int(np.sum(np.asarray(mask)))) % 2 == 0:
            raise ValueError(
                f"Equal bits need a parity of an odd number of coordinates, got k={degree}, whose label would be "
                "constant. Use an odd k."
            )

    @property
    def n(self) -> int:
        return self.target.n

    def sample(self, key: PRNGKeyArray, batch: int) -> Examples:
        check_draw(key, batch)
        rest_key, sign_key = jr.split(key)
        sign = random_signs(sign_key, batch, 1)
        x = jnp.where(jnp.asarray(self.target.mask)[None], sign, random_signs(rest_key, batch, self.n))
        return x, jax.vmap(self.target)(x)

    def support(self) -> Support:
        x = cube(self.n)
        mask = jnp.asarray(self.target.mask, x.dtype)
        equal = jnp.abs(x @ mask) == jnp.sum(mask)
        probability = jnp.exp2(jnp.sum(mask) - 1 - self.n)
        return x, jax.vmap(self.target)(x), jnp.where(equal, probability, 0.0)


def leaky(target: Parity, leak: int | float = 0.5) -> Encoded:
    """D_A: with probability `leak` an example's bits in A are all equal; points are +-1/sqrt(n).

    (learning-parities, Section 2, where the probability is one half.)

    >>> leaky(Parity(9, support=(0, 1, 2))).base.weights.tolist()
    [0.5, 0.5]
    """
    check_kind("target", target, Parity, "a parity, such as Parity(n, support)")
    check_number("leak", leak, 0, 1)
    return Encoded(Mixture([Uniform(target), EqualBits(target)], [1.0 - leak, leak]), "unit")


@dataclasses.dataclass(frozen=True)
class RandomLeaky:
    """The family of all D_A with |A| = k: each run its own random A (learning-parities, Section 2: the class F).

    >>> from paritylab import root_key
    >>> RandomLeaky(9, 3)(root_key(0)).base.parts[1].target.mask.sum().item()
    3
    """

    n: int
    k: int

    def __post_init__(self) -> None:
        check_size(self.n, self.k)

    def __call__(self, key: PRNGKeyArray) -> AbstractDistribution:
        return leaky(random_parity(self.n, self.k, key=key))
