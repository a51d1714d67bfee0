"""Lower bounds for linear methods: a fixed embedding, a bounded norm, and every k-parity as a possible target.

All bounds here come from one fact. The parities are orthonormal, so a feature that is bounded can
correlate with few of them (Parseval); and where the label does not correlate with the features, the
hinge loss of every linear predictor of small norm is close to 1. They hold for the mean over the sets
A of size k, hence of the worst A too, and of the loss under the uniform distribution.
"""

import itertools
import math

import numpy as np
from jaxtyping import Float

from ..cube import cube
from .base import Assumption, Bound, check_positive, check_subset_size, number, parts_of

LARGEST_TABLE = 2**27
"""The most entries (1 GB in float64) of a table of features that is worked on whole."""


def kernel(n: int, k: int, *, norm: int | float) -> Bound:
    """Any kernel with K(x, x) <= 1 (features of any number with |Psi(x)| <= 1), and a predictor of bounded norm.

    The mean over S of the least hinge loss is at least 1 - R / sqrt(C(n, k)): hinge >= 1 - y f, and the
    squared correlations of one bounded embedding with all parities sum to at most 1. This is
    hidden-progress, Theorem 6, without its factor of sqrt(D) for the dimension D.

    >>> print(kernel(50, 3, norm=10.0))
    No kernel predictor of norm 10 has a mean hinge loss below 0.9286 on the 3-parities of 50 bits. \
[hidden-progress, Theorem 6 (direct form)]
    """
    check_subset_size(n, k)
    check_positive(norm=norm)
    value = 1 - norm * math.sqrt(1 / math.comb(n, k))
    sentence = (
        f"No kernel predictor of norm {number(norm)} has a mean hinge loss below {number(value)} on the {k}-parities "
        f"of {n} bits."
    )
    return Bound(value, "at least", sentence, "hidden-progress, Theorem 6 (direct form)")


def kernel_of_dimension(n: int, k: int, *, dimension: int, norm: int | float) -> Bound:
    """hidden-progress, Theorem 6, as printed: features of D dimensions with |Psi(x)| <= 1.

    If D R^2 < eps^2 C(n, k), some S has a least hinge loss above 1 - eps; hence at least 1 - R sqrt(D / C(n, k)).

    >>> round(kernel_of_dimension(50, 3, dimension=4, norm=10).value, 4)
    0.8571
    """
    check_subset_size(n, k)
    check_positive(dimension=dimension, norm=norm)
    value = 1 - norm * math.sqrt(dimension / math.comb(n, k))
    sentence = (
        f"On some {k}-parity of {n} bits, no predictor of norm {number(norm)} on {dimension} features of norm 1 has a "
        f"hinge loss below {number(value)}."
    )
    return Bound(value, "at least", sentence, "hidden-progress, Theorem 6")


def fixed_features(n: int, k: int, *, features: int, norm: int | float) -> Bound:
    """N features in [-1, 1], weights of norm at most B: the stronger elementary form of learning-parities, Theorem 2.

    The mean over A of the least hinge loss under the uniform distribution is at least
    1 - B sqrt(N / C(n, k)). The part `mixture` is what remains for the mixture D_A of
    the paper, of which the uniform distribution is one half.

    >>> round(fixed_features(8, 3, features=16, norm=1).value, 3)
    0.465
    """
    _check(n, k, features, norm)
    value = 1 - norm * math.sqrt(features / math.comb(n, k))
    sentence = (
        f"No linear predictor of norm {number(norm)} on {features} fixed features in [-1, 1] has a mean hinge loss "
        f"below {number(value)} on the {k}-parities of {n} bits."
    )
    parts = parts_of(mixture=max(value, 0.0) / 2)
    return Bound(value, "at least", sentence, "learning-parities, Theorem 2 (elementary form)", parts=parts)


def fixed_features_by_convexity(n: int, k: int, *, features: int, norm: int | float) -> Bound:
    """The bound inside the proof of learning-parities, Theorem 2, before C(n, k) >= 16^k is used.

    1 - sqrt(2N) B / C(n, k)^(1/4), from the strong convexity of the regularized loss.
    It is never better than `fixed_features` where either is above 0.

    >>> round(fixed_features_by_convexity(8, 3, features=16, norm=1).value, 2)
    -1.07
    """
    _check(n, k, features, norm)
    value = 1 - math.sqrt(2 * features) * norm * (1 / math.comb(n, k)) ** 0.25
    sentence = (
        f"By strong convexity, no linear predictor of norm {number(norm)} on {features} fixed features in [-1, 1] has "
        f"a mean hinge loss below {number(value)} on the {k}-parities of {n} bits."
    )
    return Bound(value, "at least", sentence, "learning-parities, proof of Theorem 2 (corrected)")


def fixed_features_theorem(n: int, k: int, *, features: int, norm: int | float) -> Bound:
    """learning-parities, Theorem 2, corrected: on some D_A the loss is at least 1/2 - sqrt(N) B / (2^k sqrt 2).

    Printed with sqrt(N B); the proof gives sqrt(N) B. D_A is half uniform and half
    with all bits of A equal.

    >>> bound = fixed_features_theorem(160, 9, features=100, norm=2)
    >>> round(bound.value, 3), bound.applies
    (0.472, True)
    """
    _check(n, k, features, norm)
    value = 0.5 - math.ldexp(math.sqrt(features / 2) * norm, -k)
    sentence = (
        f"On some D_A with |A| = {k} of {n} bits, no linear predictor of norm {number(norm)} on {features} fixed "
        f"features in [-1, 1] has a hinge loss below {number(value)}."
    )
    assumptions = (
        Assumption(f"k <= n/16, here {k} <= {number(n / 16)}", 16 * k <= n),
        Assumption(f"k is odd and at least 3, here {k}", k % 2 == 1 and k >= 3),
    )
    return Bound(value, "at least", sentence, "learning-parities, Theorem 2 (corrected)", assumptions)


def gradient_at_zero(n: int, k: int, *, features: int) -> Bound:
    """The mean over A of |grad G_A(0)|^2, the squared correlations of the features with f_A, is at most N / C(n, k).

    learning-parities, proof of Theorem 2. The part `sixteen` is the N / 16^k of the
    paper, which is larger if k <= n/16.

    >>> gradient_at_zero(8, 3, features=56).value
    1.0
    """
    _check(n, k, features, 1)
    value = features / math.comb(n, k)
    sentence = (
        f"The squared correlations of {features} features in [-1, 1] with a {k}-parity of {n} bits sum to at most "
        f"{number(value)} in the mean over the parities."
    )
    parts = parts_of(sixteen=features / 16**k)
    return Bound(value, "at most", sentence, "learning-parities, proof of Theorem 2 (corrected)", parts=parts)


def parity_correlations(features: Float[np.ndarray, "points features"], k: int) -> Float[np.ndarray, "sets features"]:
    """E[f_A Psi_i] under the uniform distribution, for every A of size k (rows, in the order of `combinations`).

    `features` has one row per point of the cube, in its order. Parseval: over all k and A, the squares of
    a column sum to E[Psi_i^2] (learning-parities, proof of Theorem 2).

    >>> parity_correlations(np.array([[1.0], [-1.0], [1.0], [-1.0]]), 1).tolist()
    [[1.0], [0.0]]
    """
    points, columns = features.shape
    n = points.bit_length() - 1
    if points != 2**n or points * max(n, columns) > LARGEST_TABLE:
        raise ValueError(
            f"The table of features needs one row for each point of a cube and at most {LARGEST_TABLE} entries "
            f"(1 GB), got {points} rows of {columns}. Use `fixed_features`, which needs numbers only."
        )
    check_subset_size(n, k)
    x = np.asarray(cube(n), np.float64)
    found = [x[:, list(chosen)].prod(axis=1) @ features for chosen in itertools.combinations(range(n), k)]
    return np.array(found) / points


def given_features(features: Float[np.ndarray, "points features"], k: int, *, norm: int | float) -> Bound:
    """The same argument for features that are given: mean over A of 1 - B |E[f_A Psi]|, exactly.

    Never below `fixed_features` for features in [-1, 1]; the part `worst` is the bound for the worst A
    (learning-parities, Theorem 2).

    >>> given_features(np.asarray(cube(3), float), 1, norm=0.5).value
    0.5
    """
    check_positive(norm=norm)
    lengths = np.linalg.norm(parity_correlations(features, k), axis=1)
    value, worst = float(1 - norm * lengths.mean()), float(1 - norm * lengths.min())
    sentence = (
        f"No linear predictor of norm {number(norm)} on these {features.shape[1]} features has a mean hinge loss below "
        f"{number(value)} on the {k}-parities."
    )
    source = "learning-parities, Theorem 2 (elementary form, for given features)"
    return Bound(value, "at least", sentence, source, parts=parts_of(worst=worst))


def _check(n: int, k: int, features: int, norm: int | float) -> None:
    check_subset_size(n, k)
    check_positive(features=features, norm=norm)
