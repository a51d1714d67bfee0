"""Activation functions, from the usual ones to those that make one neuron a parity.

The degree k of an activation is an array, not part of its shape: changing k compiles nothing new.
All of them follow the sign convention sigma(k) = +1, so that sigma(sum of x over S) is the parity
chi_S(x) for every S of size k (hidden-progress, Appendix D.1.2, with the corrections that the
zigzags have period 4 and their end segments go on straight).
"""

import abc
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..demands import check_number, check_whole

Activation = Callable[[Float[Array, "..."]], Float[Array, "..."]]

LARGEST_DEGREE = 15

relu: Activation = jax.nn.relu
relu6: Activation = jax.nn.relu6
sigmoid: Activation = jax.nn.sigmoid


def square(z: Float[Array, "..."]) -> Float[Array, "..."]:
    """z**2."""
    return z * z


def gelu(z: Float[Array, "..."]) -> Float[Array, "..."]:
    """z times the Gaussian distribution function at z, exactly."""
    return jax.nn.gelu(z, approximate=False)


def _degree(k: int) -> Int[np.ndarray, ""]:
    check_whole("k", k)
    if not 1 <= k <= LARGEST_DEGREE:
        raise ValueError(f"An activation of degree k needs 1 <= k <= {LARGEST_DEGREE}, got k={k}.")
    return np.asarray(k, np.int32)


class AbstractOfDegree(eqx.Module):
    """An activation that is made for parities of degree k."""

    k: eqx.AbstractVar[Int[Array | np.ndarray, "*runs"]]

    @abc.abstractmethod
    def __call__(self, z: Float[Array, "..."]) -> Float[Array, "..."]:
        """The activation, elementwise."""


class Power(AbstractOfDegree):
    """z**k, by repeated squaring: the bits of k choose the factors."""

    k: Int[Array | np.ndarray, "*runs"]

    def __init__(self, k: int):
        self.k = _degree(k)

    def __call__(self, z: Float[Array, "..."]) -> Float[Array, "..."]:
        k = jnp.asarray(self.k)
        result, factor = jnp.ones_like(z), z
        for bit in range(LARGEST_DEGREE.bit_length()):
            result = jnp.where((k >> bit) & 1 == 1, result * factor, result)
            # A factor that no further bit needs is 1: it could overflow, and 0 * inf makes the gradient NaN.
            factor = jnp.where(k >> (bit + 1) > 0, factor * factor, jnp.ones_like(z))
        return result


def _triangle(z: Float[Array, "..."], k: Int[Array, ""]) -> Float[Array, "..."]:
    """The wave of period 4 that falls from +1 at z = k in a straight line to -1 at z = k - 2."""
    phase = (k.astype(z.dtype) - z) / 2
    return 1 - 2 * jnp.abs(phase - 2 * jnp.round(phase / 2))


class TriangleWave(AbstractOfDegree):
    """The infinite zigzag: +1 at k + 4i, -1 at k + 4i + 2, straight in between."""

    k: Int[Array | np.ndarray, "*runs"]

    def __init__(self, k: int):
        self.k = _degree(k)

    def __call__(self, z: Float[Array, "..."]) -> Float[Array, "..."]:
        return _triangle(z, jnp.asarray(self.k))


class Zigzag(AbstractOfDegree):
    """The k-zigzag: the triangle wave between -k and k, its end segments going on straight outside."""

    k: Int[Array | np.ndarray, "*runs"]

    def __init__(self, k: int):
        self.k = _degree(k)

    def __call__(self, z: Float[Array, "..."]) -> Float[Array, "..."]:
        k = jnp.asarray(self.k)
        end, sign = k.astype(z.dtype), (1 - 2 * (k & 1)).astype(z.dtype)
        return _triangle(jnp.clip(z, -end, end), k) + relu(z - end) + sign * relu(-end - z)


class OscillatingPolynomial(AbstractOfDegree):
    """The polynomial of degree k through (k, +1), (k - 2, -1), ..., (-k, (-1)**k).

    In Newton's form: with j = (k - z) / 2 it is the sum over i <= k of (-2)**i binom(j, i), because
    (-1)**j = (1 - 2)**j at the integers j = 0, ..., k.
    """

    k: Int[Array | np.ndarray, "*runs"]

    def __init__(self, k: int):
        self.k = _degree(k)

    def __call__(self, z: Float[Array, "..."]) -> Float[Array, "..."]:
        k = jnp.asarray(self.k)
        j = (k.astype(z.dtype) - z) / 2
        total = term = jnp.ones_like(z)
        for i in range(LARGEST_DEGREE):
            term = jnp.where(i < k, term * (j - i) * (-2 / (i + 1)), jnp.zeros_like(z))
            total = total + term
        return total


class Sinusoid(AbstractOfDegree):
    """sin(pi/2 * scale * z + pi/2 * (1 - k)); at scale 1 it is +1 at z = k.

    A larger scale is the same as larger first weights and a larger rate for them.
    """

    k: Int[Array | np.ndarray, "*runs"]
    scale: float = eqx.field(static=True)

    def __init__(self, k: int, scale: float = 1.0):
        self.k = _degree(k)
        check_number("scale", scale)
        self.scale = scale

    def __call__(self, z: Float[Array, "..."]) -> Float[Array, "..."]:
        shift = (1 - jnp.asarray(self.k)).astype(z.dtype)
        return jnp.sin(np.pi / 2 * (self.scale * z + shift))
