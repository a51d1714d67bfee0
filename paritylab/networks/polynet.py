"""Products of linear functions."""

import functools
import operator

import equinox as eqx
import jax.random as jr
from jaxtyping import Array, Float, PRNGKeyArray

from ..demands import check_whole
from .base import check_initialization
from .initializations import AbstractInitialization, UniformInitialization


def _check_degree(degree: int) -> None:
    check_whole("degree", degree)
    if degree < 1:
        raise ValueError(f"A PolyNet needs at least one factor, got degree={degree}.")


def _product(factors: Float[Array, " degree"]) -> Float[Array, ""]:
    """Multiplied out: the gradient of a reduction would divide, and a factor can be zero."""
    return functools.reduce(operator.mul, factors)


class PolyNetwork(eqx.Module):
    """prod_i (w_i . x + b_i)."""

    weight: Float[Array, "degree n"]
    bias: Float[Array, " degree"]

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        return _product(self.weight @ x + self.bias)


class DisjointPolyNetwork(eqx.Module):
    """prod_i (w_i . x on block i), without biases."""

    weight: Float[Array, "degree block"]

    def __call__(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        return _product((self.weight * x.reshape(self.weight.shape)).sum(axis=1))


class PolyNet(eqx.Module):
    """Recipe of a product of `degree` affine functions (setting (xv) of hidden-progress)."""

    degree: int = eqx.field(static=True)
    initialization: AbstractInitialization = eqx.field(default_factory=UniformInitialization)

    def __check_init__(self) -> None:
        _check_degree(self.degree)
        check_initialization(self.initialization)

    def __call__(self, n: int, *, key: PRNGKeyArray) -> PolyNetwork:
        weight_key, bias_key = jr.split(key)
        weight = self.initialization.weights(weight_key, (self.degree, n), n)
        return PolyNetwork(weight, self.initialization.biases(bias_key, (self.degree,), n))


class DisjointPolyNet(eqx.Module):
    """Recipe of a product of `degree` linear functions, each of its own block of coordinates."""

    degree: int = eqx.field(static=True)
    initialization: AbstractInitialization = eqx.field(default_factory=UniformInitialization)

    def __check_init__(self) -> None:
        _check_degree(self.degree)
        check_initialization(self.initialization)

    def __call__(self, n: int, *, key: PRNGKeyArray) -> DisjointPolyNetwork:
        if n % self.degree:
            raise ValueError(
                f"A disjoint PolyNet cuts the coordinates into equal blocks, got n={n} and degree={self.degree}. "
                "Make n a multiple of the degree."
            )
        block = n // self.degree
        return DisjointPolyNetwork(self.initialization.weights(key, (self.degree, block), block))
