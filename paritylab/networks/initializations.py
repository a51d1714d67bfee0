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
from ..demands import check_number, check_whole


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


class PerturbedSigns(AbstractInitialization):
    """(r + sigma g) / sqrt(fan-in (1 + sigma^2)): random signs r and Gaussians g, for weights and biases (2412.04910).

    With an infinite sigma it is Gaussian. Another sigma compiles nothing new.

    >>> from paritylab.cube import root_key
    >>> PerturbedSigns(0.0).weights(root_key(0), (4,), fan_in=4).tolist()
    [-0.5, -0.5, 0.5, 0.5]
    """

    sigma: Float[Array | np.ndarray, "*runs"]

    def __init__(self, sigma: int | float):
        if isinstance(sigma, bool) or not isinstance(sigma, int | float | np.floating) or not sigma >= 0:
            raise ValueError(f"A perturbation has a sigma >= 0, or infinite for Gaussians alone, got sigma={sigma!r}.")
        self.sigma = np.asarray(sigma, float)

    def weights(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        sigma = jnp.asarray(self.sigma, jnp.float32)
        sign = 1 / jnp.sqrt(1 + sigma**2)
        gaussian = jnp.where(jnp.isinf(sigma), 1.0, sigma * sign)
        noise = jr.normal(jr.fold_in(key, 1), shape, jnp.float32)
        return (sign * fair_signs(key, shape) + gaussian * noise) * fan_in**-0.5

    biases = weights


class SparseInitialization(AbstractInitialization):
    """Each unit sees `nonzero` random inputs, with weights +-1 / sqrt(nonzero); outputs and biases as by default.

    (2309.03800: sparse initialization.)

    >>> from paritylab.cube import root_key
    >>> weights = SparseInitialization(4).weights(root_key(0), (3, 10), fan_in=10)
    >>> jnp.sum(weights != 0, axis=1).tolist(), float(jnp.max(weights))
    ([4, 4, 4], 0.5)
    """

    nonzero: int = eqx.field(static=True)

    def __check_init__(self) -> None:
        check_whole("nonzero", self.nonzero, 1)

    def weights(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        if not self.nonzero <= fan_in == shape[-1]:
            raise ValueError(
                f"A unit of {shape[-1]} inputs cannot have nonzero={self.nonzero} of them. Use at most {shape[-1]}."
            )
        sign_key, place_key = jr.split(key)
        places = jnp.broadcast_to(jnp.arange(fan_in), shape)
        chosen = jr.permutation(place_key, places, axis=-1, independent=True) < self.nonzero
        return jnp.where(chosen, fair_signs(sign_key, shape) * self.nonzero**-0.5, 0)

    def biases(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return _symmetric_uniform(key, shape, fan_in**-0.5)

    outputs = biases


class NormalInitialization(AbstractInitialization):
    """N(0, deviation^2) whatever the fan-in, for weights and biases.

    >>> from paritylab.cube import root_key
    >>> NormalInitialization(0.0).weights(root_key(0), (2,), fan_in=4).tolist()
    [0.0, 0.0]
    """

    deviation: Float[Array | np.ndarray, "*runs"]

    def __init__(self, deviation: int | float):
        check_number("deviation", deviation, 0)
        self.deviation = np.asarray(deviation, float)

    def weights(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return jr.normal(key, shape, jnp.float32) * jnp.asarray(self.deviation, jnp.float32)

    biases = weights


class MeanFieldInitialization(AbstractInitialization):
    """U[-1/sqrt(fan-in), 1/sqrt(fan-in)] for weights and biases, outputs U[-1, 1] / fan-in.

    The network is a mean over its units (2301.13105). A rate of the mean-field scaling is the rate of the hidden
    layer; that of the output weights is divided by width^2, since these are stored divided by the width.
    """

    def weights(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return _symmetric_uniform(key, shape, fan_in**-0.5)

    biases = weights

    def outputs(self, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
        return _symmetric_uniform(key, shape, 1 / fan_in)


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
