"""Initializations.

An initialization draws one layer at a time: `weights` of a given shape and fan-in, and `biases`.
The usual ones (hidden-progress, Appendix D.1) treat all layers alike; the structured ones (signs
with a grid of biases; ternary weights with large outputs) are made for two layers with `paired`
units, which start as the zero function.
"""

import abc

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from ..cube import fair_signs
from ..demands import check_whole


class AbstractInitialization(eqx.Module):
    """The distribution of the initial weights of one layer."""

    @abc.abstractmethod
    def weights(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        """The weights of a hidden layer."""

    @abc.abstractmethod
    def biases(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        """The biases of a hidden layer."""

    def outputs(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        """The weights of the output layer; by default like any other layer's."""
        return self.weights(key, shape, fan_in)


def _symmetric_uniform(key: PRNGKeyArray, shape: tuple[int, ...], bound: float) -> Float[Array, "..."]:
    """U[-bound, bound]. 2u - 1 is exact, so that there is one rounding, the same in every compiled program."""
    return (2 * jr.uniform(key, shape, jnp.float32) - 1) * bound


class UniformInitialization(AbstractInitialization):
    """U[-c, c] with c = 1/sqrt(fan-in), for weights and biases: the default of deep-learning packages."""

    def weights(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return _symmetric_uniform(key, shape, fan_in**-0.5)

    biases = weights


class GaussianInitialization(AbstractInitialization):
    """N(0, 2 / fan-in), for weights and biases."""

    def weights(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return jr.normal(key, shape, jnp.float32) * (2 / fan_in) ** 0.5

    biases = weights


class StandardNormalInitialization(AbstractInitialization):
    """N(0, 1) whatever the fan-in: the disjoint PolyNet of hidden-progress, Corollary 12 and Figure 5."""

    def weights(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return jr.normal(key, shape, jnp.float32)

    biases = weights


class BernoulliInitialization(AbstractInitialization):
    """+-c with c = 1/sqrt(fan-in), for weights and biases."""

    def weights(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return fair_signs(key, shape) * fan_in**-0.5

    biases = weights


class GlorotInitialization(AbstractInitialization):
    """U[-c, c] with c = sqrt(6 / (fan-in + fan-out)), biases 0; the matrices of the Transformer."""

    def weights(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        fan_out = int(np.prod(shape)) // fan_in
        return _symmetric_uniform(key, shape, (6 / (fan_in + fan_out)) ** 0.5)

    def biases(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return jnp.zeros(shape, jnp.float32)


class SignInitialization(AbstractInitialization):
    """Signs for weights and outputs, biases uniform on -1 + 1/k, -1 + 2/k, ..., 1 - 1/k.

    Meant to be paired: the initialization of Theorem 4 of hidden-progress (Appendix B.1).
    """

    k: int = eqx.field(static=True)

    def __check_init__(self) -> None:
        check_whole("k", self.k, 1)

    def weights(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return fair_signs(key, shape)

    def biases(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return jr.randint(key, shape, 1, 2 * self.k, jnp.int32).astype(jnp.float32) / self.k - 1


class TernaryInitialization(AbstractInitialization):
    """Weights uniform on {-1, 0, 1}, biases 1/(8k), outputs U[-n/k, n/k].

    Meant to be paired: the initialization of Theorem 3 of learning-parities, with the copied pair that its
    proof needs in place of the printed negated one.
    """

    n: int = eqx.field(static=True)
    k: int = eqx.field(static=True)

    def __check_init__(self) -> None:
        check_whole("n", self.n, 1)
        check_whole("k", self.k, 1, self.n)

    def weights(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return jr.randint(key, shape, -1, 2, jnp.int32).astype(jnp.float32)

    def biases(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return jnp.full(shape, 1 / (8 * self.k), jnp.float32)

    def outputs(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return _symmetric_uniform(key, shape, self.n / self.k)


class ChosenInitialization(AbstractInitialization):
    """One of several initializations, chosen by an array: another choice compiles nothing new.

    >>> from paritylab.cube import root_key
    >>> both = (UniformInitialization(), BernoulliInitialization())
    >>> ChosenInitialization(both, 1).weights(root_key(0), (4,), fan_in=4).tolist()
    [-0.5, -0.5, 0.5, 0.5]
    """

    laws: tuple[AbstractInitialization, ...]
    which: Int[Array | np.ndarray, "*runs"]

    def __init__(self, laws: tuple[AbstractInitialization, ...], which: int):
        if not 0 <= which < len(laws):
            raise ValueError(f"A choice among {len(laws)} initializations is below {len(laws)}, got which={which}.")
        self.laws, self.which = laws, np.asarray(which, np.int32)

    def weights(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return self._chosen([each.weights(key, shape, fan_in) for each in self.laws])

    def biases(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return self._chosen([each.biases(key, shape, fan_in) for each in self.laws])

    def outputs(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return self._chosen([each.outputs(key, shape, fan_in) for each in self.laws])

    def _chosen(self, drawn: list[Array]) -> Float[Array, "..."]:
        return jnp.stack(drawn)[jnp.asarray(self.which)]
