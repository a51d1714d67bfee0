"""Fourier analysis of functions on the cube, under the uniform distribution or any product of biased coordinates.

For E[x_i] = mu_i the characters are products of phi_i(x) = (x_i - mu_i) / sigma_i, which are
orthonormal; with mu = 0 they are the parities. Everything else follows from the coefficients.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int, Num

from ...cube import LARGEST_ENUMERATION, cube
from ...demands import as_numbers, check_function, check_kind, check_whole, echo
from ...networks.base import outputs
from ...tables import html_table, sentence_html
from ...targets import AbstractRealTarget, AbstractTarget
from .transform import coefficients, coordinates_of, kronecker

MOST_CALLS = 16
"""The n up to which a function that JAX cannot trace is called on every point."""
SHOWN = 8
"""Subsets and levels that a notebook shows."""

Mean = int | float | Float[np.ndarray, " n"]
"""E[x_i] of all coordinates, or of each."""


def table_of(target: AbstractTarget) -> Int[np.ndarray, " points"]:
    """All labels, in the order of the cube.

    >>> from paritylab import Parity
    >>> table_of(Parity(2, (0, 1)))
    array([ 1, -1, -1,  1], dtype=int8)
    """
    if isinstance(target, AbstractRealTarget):
        raise TypeError(
            f"A table of labels is that of a target with labels -1 and +1, got a {type(target).__name__}. Use "
            "`values_of(target, target.n)`."
        )
    if target.n > LARGEST_ENUMERATION:
        raise ValueError(
            f"A table of 2**n labels is made for n <= {LARGEST_ENUMERATION}, got n={target.n}, which would take "
            f"{2.0 ** (target.n - 30):.3g} GiB. For a symmetric function use `symmetric_spectrum`, for the large "
            "coefficients of any other `heavy_coefficients`."
        )
    return _on_cube(jax.jit(jax.vmap(target)), target.n).astype(np.int8)


def values_of(function: Callable[[Any], Any], n: int) -> Float[np.ndarray, " points"]:
    """The values of a function of one point, such as a trained network, in the order of the cube.

    JAX evaluates many points at once; a function that it cannot trace is called on each.

    >>> values_of(lambda x: 1 if x[0] > 0 else -1, 2)
    array([ 1., -1.,  1., -1.])
    """
    check_function("function", function, "lambda x: x[0] * x[1]")
    check_whole("n", n, 0, LARGEST_ENUMERATION)
    try:
        value = jax.eval_shape(function, jax.ShapeDtypeStruct((n,), jnp.float32))
    except TypeError:  # JAX cannot trace it; what else is wrong with it, the call says again
        if n > MOST_CALLS:
            raise ValueError(
                f"A function that JAX cannot trace is called 2**n times, so n is at most {MOST_CALLS}, got n={n}. "
                "Write it with jax.numpy, or give its values as an array."
            ) from None
        found = as_numbers("values", [function(point) for point in np.asarray(cube(n))])
        shape = found.shape[1:]
    else:
        if shape := getattr(value, "shape", ()):
            raise ValueError(f"A function on the cube gives one number for a point, got an array of shape {shape}.")
        found = np.asarray(_on_cube(jax.jit(lambda x: outputs(function, x)), n), float)
    if shape:
        raise ValueError(f"A function on the cube gives one number for a point, got an array of shape {shape}.")
    return found


def _on_cube(function: Callable[[Any], Any], n: int) -> np.ndarray:
    """The values of a function of many points, on the cube part by part."""
    low = min(n, 16)
    head = np.asarray(cube(low))
    with jax.default_matmul_precision("highest"):
        parts = [
            np.asarray(function(np.concatenate([head, np.broadcast_to(tail, (len(head), len(tail)))], axis=1)))
            for tail in np.asarray(cube(n - low))
        ]
    return np.concatenate(parts)


class ByLevel:
    """What follows from the `weight` of each level alone."""

    def _repr_html_(self: Any) -> str:
        """The levels with the most weight."""
        most = np.sort(np.argsort(-self.weight, kind="stable")[:SHOWN])
        rows = [[str(level), f"{self.weight[level]:.4g}"] for level in most if self.weight[level] > 0]
        return sentence_html(repr(self)) + html_table(rows, ["level", "weight"])

    def __repr__(self: Any) -> str:
        total = float(np.sum(self.weight))
        return f"{type(self).__name__}(n={self.n}, weight {total:.4g}, total influence {self.total_influence:.4g})"

    @property
    def total_influence(self: Any) -> float:
        """The sum of all influences, which is the mean level of the weight."""
        return float(self.weight @ np.arange(self.n + 1))

    def noise_stability(self: Any, rho: int | float) -> float:
        """E[f(x) f(x')], where each coordinate of x' is that of x with probability rho and else drawn anew.

        >>> spectrum(np.array([1, -1, -1, 1])).noise_stability(0.5)
        0.25
        """
        if not -1 <= rho <= 1:
            raise ValueError(f"Noise stability needs a correlation from -1 to 1, got rho={rho}.")
        return float(self.weight @ np.power(float(rho), np.arange(self.n + 1)))


@dataclass(frozen=True, repr=False)
class Spectrum(ByLevel):
    """The Fourier coefficients of one function, entry S of the subset with bit mask S."""

    coefficients: Float[np.ndarray, " subsets"]
    mean: Float[np.ndarray, " n"]
    """E[x_i] of each coordinate under the distribution of the inputs."""

    @property
    def n(self) -> int:
        """The number of coordinates."""
        return coordinates_of(self.coefficients)

    @property
    def levels(self) -> Int[np.ndarray, " subsets"]:
        """The size of each subset."""
        return np.bitwise_count(np.arange(len(self.coefficients), dtype=np.uint64)).astype(int)

    @property
    def weight(self) -> Float[np.ndarray, " levels"]:
        """The sum of squared coefficients over the subsets of each size 0..n.

        >>> spectrum(np.array([1, 1, 1, -1])).weight
        array([0.25, 0.5 , 0.25])
        """
        return np.bincount(self.levels, self.coefficients**2, minlength=self.n + 1)

    @property
    def influences(self) -> Float[np.ndarray, " n"]:
        """For each coordinate the variance that is left when all others are fixed, on average.

        For labels +-1 under the uniform distribution that is the probability that flipping it flips the label.

        >>> spectrum(np.array([1, 1, 1, -1])).influences
        array([0.5, 0.5])
        """
        squares = self.coefficients**2
        return np.array([squares.reshape(-1, 2, 2**i)[:, 1].sum() for i in range(self.n)])

    def degree(self, tolerance: float = 1e-12) -> int:
        """The size of the largest subset whose coefficient is not zero up to the tolerance."""
        present = np.abs(self.coefficients) > tolerance
        return int(self.levels[present].max(initial=0))

    def heaviest(self, count: int) -> list[tuple[tuple[int, ...], float]]:
        """The subsets with the largest coefficients, largest first.

        >>> spectrum(np.array([1, -1, -1, 1])).heaviest(1)
        [((0, 1), 1.0)]
        """
        order = np.argsort(-np.abs(self.coefficients), kind="stable")[:count]
        return [(subset_of(int(place)), float(self.coefficients[place])) for place in order]

    def _repr_html_(self) -> str:
        rows = [[str(subset), f"{size:.4g}"] for subset, size in self.heaviest(SHOWN) if size != 0]
        return super()._repr_html_() + html_table(rows, ["subset", "coefficient"])


def subset_of(mask: int) -> tuple[int, ...]:
    """The coordinates whose bits are 1.

    >>> subset_of(5)
    (0, 2)
    """
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)


def _table(function: Any, n: int | None) -> np.ndarray:
    """The values of whatever `spectrum` takes."""
    if callable(function) and not isinstance(function, AbstractTarget):
        if n is None:
            raise TypeError(f"A function does not tell its number of coordinates, got {echo(function)}. Give n=.")
        return values_of(function, n)
    check_kind(
        "function", function, (AbstractTarget, np.ndarray), "a target, an array of its 2**n values, or a function"
    )
    if isinstance(function, AbstractRealTarget):
        table = values_of(function, function.n)
    else:
        table = table_of(function) if isinstance(function, AbstractTarget) else function
    if n is not None and coordinates_of(table) != n:
        raise ValueError(f"This function has {coordinates_of(table)} coordinates, got n={n}. Leave n out.")
    return table


def means_of(mean: Mean, n: int) -> Float[np.ndarray, " {n}"]:
    """The mean of each of n biased coordinates."""
    means = np.broadcast_to(np.asarray(mean, float), (n,))
    if not np.all(np.abs(means) < 1):
        raise ValueError(
            f"A biased coordinate takes both values, so its mean lies inside (-1, 1), got mean={echo(mean)}."
        )
    return means


def spectrum(
    function: AbstractTarget | Num[np.ndarray, " points"] | Callable[[Any], Any],
    mean: Mean = 0.0,
    *,
    n: int | None = None,
) -> Spectrum:
    """The coefficients of a function on the cube, under independent coordinates with these means.

    The function is a target; or an array of its values in the order of the cube; or, with `n`, any function of one
    point: one written in Python, or a trained network such as `runs.network(0)`.

    >>> from paritylab import Parity
    >>> biased = spectrum(Parity(3, (0, 2)), mean=0.5)  # x = mu + sigma phi
    >>> [(subset, round(size, 4)) for subset, size in biased.heaviest(1)]
    [((0, 2), 0.75)]
    >>> spectrum(lambda x: max(x[0], x[1]), n=3).heaviest(4)
    [((), 0.5), ((0,), 0.5), ((1,), 0.5), ((0, 1), -0.5)]
    """
    table = _table(function, n)
    if not np.all(np.isfinite(table)):
        raise ValueError("A spectrum needs finite values, got some that are not. Leave out what diverged.")
    means = means_of(mean, coordinates_of(table))
    if not means.any():
        return Spectrum(coefficients(table), means)
    # E[f] and E[f phi] of one coordinate, from f(+1) and f(-1); the latter is (sigma / 2)(f(+1) - f(-1)).
    half = np.sqrt(1 - means**2) / 2
    factors = [np.array([[(1 + mu) / 2, (1 - mu) / 2], [h, -h]]) for mu, h in zip(means, half, strict=True)]
    return Spectrum(kronecker(table.astype(float), factors), means)
