"""Lower bounds for statistical-query learners, gradient descent with noisy gradients among them.

A query is a function q(x, y) in [-1, 1]; the oracle answers E[q] up to a tolerance. On a fixed distribution
of x, a query depends on the target f only through E[f b] for one b in [-1, 1]. The squares of these correlations over a
family sum to at most the largest eigenvalue of the Gram matrix (Bessel; 1 for an orthonormal family), so
one query distinguishes only few members from noise, and an adversarial oracle makes the learner search
through the family.
"""

import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..distributions import AbstractDistribution
from ..targets import AbstractTarget
from .base import Bound, as_float, check_positive, check_subset_size, number


def gram(
    values: Float[np.ndarray, "functions points"], probabilities: Float[np.ndarray, " points"]
) -> Float[np.ndarray, "functions functions"]:
    """E[f g] for all pairs of functions, given by their values on a support.

    hidden-progress, equation (1): the identity for parities under the uniform distribution.

    >>> gram(np.array([[1.0, 1.0], [1.0, -1.0]]), np.array([0.5, 0.5])).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return (values * probabilities) @ values.T


def gram_of_targets(
    targets: Sequence[AbstractTarget], distribution: AbstractDistribution
) -> Float[np.ndarray, "functions functions"]:
    """The same for targets under the marginal of a distribution (whose own labels play no part).

    >>> from paritylab import Parity, Product
    >>> biased = Product(Parity(2, (0,)), mean=0.5)
    >>> gram_of_targets([Parity(2, (0,)), Parity(2, (1,))], biased).tolist()
    [[1.0, 0.25], [0.25, 1.0]]
    """
    points, _, probabilities = distribution.support()
    values = np.array([jax.vmap(target)(jnp.asarray(points)) for target in targets], np.float64)
    return gram(values, np.asarray(probabilities, np.float64))


def spectral_dimension(table: Float[np.ndarray, "functions functions"]) -> float:
    """The number of functions over the largest eigenvalue of their Gram matrix: as hard as so many orthonormal ones.

    For an orthonormal family this is its size, the SQ dimension (depth-separation: 2^n products of gates
    under the uniform distribution). For any family it is a valid size in `family_queries`.

    >>> spectral_dimension(np.eye(8)), spectral_dimension(np.ones((8, 8)))
    (8.0, 1.0)
    """
    if len(table) == 0 or not np.allclose(table, table.T):
        raise ValueError(f"A Gram matrix is symmetric and not empty, got a table of shape {table.shape}; use `gram`.")
    return float(round(len(table) / np.linalg.eigvalsh(table)[-1], 12))


def correlated_members(*, tolerance: int | float, largest_eigenvalue: int | float = 1.0) -> Bound:
    """The number of members of a family with which one query in [-1, 1] can correlate by more than the tolerance.

    At most (largest eigenvalue of the Gram matrix) / tolerance^2: hidden-progress, Appendix A.1.

    >>> correlated_members(tolerance=0.25).value
    16.0
    """
    _check_tolerance(tolerance)
    check_positive(largest_eigenvalue=largest_eigenvalue)
    value = float(largest_eigenvalue / tolerance**2)
    sentence = (
        f"A query correlates by more than {number(tolerance)} with at most {number(value)} members of the family."
    )
    return Bound(value, "at most", sentence, "hidden-progress, Appendix A.1")


def family_queries(size: int | float, *, tolerance: int | float, family: str = "functions") -> Bound:
    """The number of queries needed to weakly learn every member of a family.

    To find, for each of `size` orthonormal functions, a hypothesis in [-1, 1] that correlates with it by more
    than the tolerance, size tolerance^2 - 1 queries are needed: each query, and the hypothesis, rules out
    at most 1 / tolerance^2 members. For a family that is not orthonormal, give its `spectral_dimension`.
    hidden-progress, Appendix A.1 and boolean-circuits, Section 4.1, with the tolerance stated.

    >>> family_queries(4096, tolerance=0.125).value
    63.0
    """
    _check_tolerance(tolerance)
    check_positive(size=size)
    members = as_float(size)
    value = max(0.0, members * tolerance**2 - 1)
    sentence = (
        f"To learn every one of {number(members)} {family} from statistical queries of tolerance {number(tolerance)} "
        f"takes at least {number(value)} of them."
    )
    return Bound(value, "at least", sentence, "hidden-progress, Appendix A.1")


def parity_queries(n: int, k: int, *, tolerance: int | float) -> Bound:
    """`family_queries` for the C(n, k) parities under the uniform distribution (hidden-progress, Appendix A.1).

    With k = log2(n) the number grows like n^Omega(log n) (boolean-circuits, Section 4.1).

    >>> print(parity_queries(50, 3, tolerance=0.25))
    To learn every one of 19,600 3-parities of 50 bits from statistical queries of tolerance 0.25 takes at least 1,224 \
of them. [hidden-progress, Appendix A.1]
    """
    check_subset_size(n, k)
    return family_queries(math.comb(n, k), tolerance=tolerance, family=f"{k}-parities of {n} bits")


def gate_product_queries(n: int, *, tolerance: int | float) -> Bound:
    """`family_queries` for the 2^n products of n gates, each an AND or an OR, under the uniform distribution.

    They are orthonormal (depth-separation).

    >>> gate_product_queries(20, tolerance=0.125).value
    16383.0
    """
    check_positive(n=n)
    return family_queries(2**n, tolerance=tolerance, family=f"products of {n} gates")


def _check_tolerance(tolerance: int | float) -> None:
    if not 0 < tolerance <= 1:
        raise ValueError(f"A tolerance lies in (0, 1], got tolerance={tolerance}.")
