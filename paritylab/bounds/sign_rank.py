"""Bounds on sign-rank from below and above, and on the width of networks with the right sign everywhere.

The sign-rank of a matrix of signs is the least rank of a real matrix with these signs. Forster's theorem
bounds it from below by spectral norms; a two-layer network with small integer weights, seen as a matrix
over its two halves of inputs, has small rank. Together they bound the width.
"""

import math

import numpy as np
from jaxtyping import Float, Integer

from ..cube import cube
from .base import Assumption, Bound, check_positive, number

Matrix = Float[np.ndarray, "rows columns"]
LARGEST_HALF = 12
"""A matrix over two halves of 12 bits has 2**24 entries, 128 MB in float64."""


def gate_product_matrix(gates: Integer[np.ndarray, " n"]) -> Float[np.ndarray, "rows columns"]:
    """The signs of the product of g_i(x_i, z_i), rows x and columns z in the order of the cube; +1 is OR, -1 is AND.

    With all gates OR this is the inner product of the bits modulo 2; for all gates a Hadamard matrix
    (depth-separation).

    >>> gate_product_matrix(np.array([1])).tolist()
    [[1.0, 1.0], [1.0, -1.0]]
    """
    _check_half(len(gates))
    matrix = np.ones((1, 1))
    for gate in gates:
        if gate not in (-1, 1):
            raise ValueError(f"A gate is +1 (OR) or -1 (AND), got {gate}.")
        one = np.array([[1, gate], [gate, -1]], float)
        matrix = np.kron(one, matrix)  # later coordinates are higher bits
    return matrix


def razborov_sherstov_matrix(m: int) -> Float[np.ndarray, "rows columns"]:
    """f_m(x, y), the AND over m blocks of the OR over m^2 places of x_ij AND y_ij: 2^(m^3) rows and columns.

    boolean-circuits, Theorem 11 (from Razborov and Sherstov): its sign-rank is 2^Omega(m).

    >>> razborov_sherstov_matrix(1).tolist()
    [[1.0, -1.0], [-1.0, -1.0]]
    """
    check_positive(m=m)
    _check_half(m**3)
    true = np.asarray(cube(m**3)) > 0
    blocks = true.reshape(-1, m, m**2).astype(float)
    meets = [blocks[:, i] @ blocks[:, i].T > 0 for i in range(m)]
    return np.where(np.all(meets, axis=0), 1.0, -1.0)


def forster(signs: Float[np.ndarray, "rows columns"]) -> Bound:
    """sign-rank >= sqrt(rows columns) / |A|, with the spectral norm (Forster 2002; boolean-circuits, Section 6).

    >>> print(forster(gate_product_matrix(np.ones(4, int))))
    The sign-rank of this 16 x 16 matrix is at least 4. [Forster's theorem]
    """
    if not np.all(np.abs(signs) == 1):
        raise ValueError("A matrix of signs has entries -1 and +1 only; take `np.sign` of one without zeros.")
    return forster_weighted(signs, signs)


def forster_weighted(signs: Float[np.ndarray, "rows columns"], weights: Float[np.ndarray, "rows columns"]) -> Bound:
    """sign-rank >= sqrt(rows columns) min|W_ij| / |W| for any real W with the same signs.

    Forster et al. 2001, Theorem 1: the best W with entries of at least one in size has the least norm.

    >>> round(forster_weighted(np.ones((2, 2)), np.array([[1.0, 3.0], [3.0, 1.0]])).value, 9)
    0.5
    """
    rows, columns = signs.shape
    least = float(np.abs(weights).min())
    same = bool(np.all(np.sign(weights) == np.sign(signs)))
    value = math.sqrt(rows * columns) * least / float(np.linalg.norm(weights, 2)) if least > 0 else 0.0
    sentence = f"The sign-rank of this {rows} x {columns} matrix is at least {number(round(value, 9))}."
    source = "Forster's theorem" if weights is signs else "Forster's theorem, weighted"
    return Bound(value, "at least", sentence, source, (Assumption("the weights have the signs of the matrix", same),))


def search_weights(signs: Matrix, *, steps: int = 40, rate: float = 1.0, squarings: int = 4) -> Matrix:
    """Weights W with the given signs and |W_ij| >= 1 whose norm, and hence bound, is no worse than that of the signs.

    The least norm is a convex problem. These are projected gradient steps on a norm just above the spectral
    one (Schatten's, of order 2^(squarings + 1)), for which matrix products suffice. The best weights met are
    kept, and the signs themselves where nothing was better: the proven bound can only rise.

    >>> equality = 2 * np.eye(6) - 1
    >>> round(forster(equality).value, 2), round(forster_weighted(equality, search_weights(equality)).value, 2)
    (1.5, 1.96)
    """
    sizes = np.ones(signs.shape)
    best, least = sizes, math.inf
    for count in range(steps + 1):
        weights = signs * sizes
        powered, norm = _powered(weights, squarings)
        if norm < least:
            best, least = sizes, norm
        gradient = signs * (weights @ powered)
        step = rate * math.sqrt(signs.size / (count + 1)) / float(np.linalg.norm(gradient))
        sizes = np.maximum(sizes - step * gradient, 1.0)
    better = np.linalg.norm(signs * best, 2) < np.linalg.norm(signs, 2)
    return signs * best if better else signs


def _powered(weights: Float[np.ndarray, "rows columns"], squarings: int) -> tuple[np.ndarray, float]:
    """(W^T W)^(2^squarings) up to a factor, and the Schatten norm of W of order 2^(squarings + 1)."""
    powered, logarithm = weights.T @ weights, 0.0
    for _ in range(squarings):
        scale = float(np.linalg.norm(powered))
        powered = (powered / scale) @ (powered / scale)
        logarithm = 2 * (logarithm + math.log(scale))
    return powered, math.exp((logarithm + math.log(np.trace(powered))) / 2 ** (squarings + 1))


def integer_network_rank(width: int, half: int, *, weight: int) -> Bound:
    """The rank, hence the sign-rank, of a two-layer network of any activation with integer weights up to B.

    boolean-circuits, Lemma 23, corrected: the inputs <w, x> of a unit from one half take at most B n' + 1
    values (all of one parity), so its matrix has at most so many distinct rows: width (B n' + 1) + 1 with
    an output bias. The printed 4 B width n' is larger.

    >>> integer_network_rank(10, 8, weight=2).value
    171.0
    """
    check_positive(width=width, half=half, weight=weight)
    value = width * (weight * half + 1) + 1
    sentence = (
        f"A network of {width} units with integer weights up to {weight} on two halves of {half} bits has sign-rank at "
        f"most {number(value)}."
    )
    return Bound(float(value), "at most", sentence, "boolean-circuits, Lemma 23 (corrected)")


def rank_of_units(
    left: Float[np.ndarray, "width half"], right: Float[np.ndarray, "width half"]
) -> Integer[np.ndarray, " width"]:
    """For each unit, a bound on the rank of its matrix: one more than the smaller l1 norm of its integer halves.

    One half with integer weights is enough; a unit without one gets 2^half, the number of rows
    (depth-separation, Z4).

    >>> rank_of_units(np.array([[1.0, -2.0]]), np.array([[0.5, 0.5]])).tolist()
    [4]
    """
    half = left.shape[1]
    ranks = np.full(len(left), 2**half)
    for weights in (left, right):
        whole = np.all(weights == np.round(weights), axis=1)
        ranks = np.where(whole, np.minimum(ranks, np.abs(weights).sum(axis=1) + 1), ranks)
    return ranks.astype(np.int64)


def integer_width(half: int, *, weight: int, sign_rank: int | float) -> Bound:
    """The least width of a network with integer weights up to B and the signs of a matrix of this sign-rank.

    width >= (sign_rank - 1) / (B n' + 1), by Lemma 23 of boolean-circuits, corrected. For a product of gates the
    sign-rank is at least 2^(half/2).

    >>> integer_width(40, weight=1, sign_rank=2.0**20).value
    25575.0
    """
    check_positive(half=half, weight=weight, sign_rank=sign_rank)
    value = math.ceil((sign_rank - 1) / (weight * half + 1))
    sentence = (
        f"A network with integer weights up to {weight} on two halves of {half} bits needs at least {number(value)} "
        f"units to have the signs of a matrix of sign-rank {number(sign_rank)}."
    )
    return Bound(float(value), "at least", sentence, "boolean-circuits, Lemma 23 (corrected)")


def margin_network_rank(width: int, half: int, *, weight: int | float, margin: int | float) -> Bound:
    """The sign-rank of a ReLU network with all weights in [-B, B] whose output is at least gamma in size.

    boolean-circuits, Theorem 12, corrected: 4 B k n' ceil(2 B k (2n' + 1) / gamma), by rounding the weights to
    multiples of 1/N (the printed last line drops gamma and the ceiling).

    >>> margin_network_rank(3, 4, weight=1, margin=1).value
    2592.0
    """
    check_positive(width=width, half=half, weight=weight, margin=margin)
    value = _rounded_rank(width, half, weight, margin)
    largest = width * weight**2 * (2 * half + 1)
    sentence = (
        f"A ReLU network of {width} units with weights up to {number(weight)} and margin {number(margin)} on two "
        f"halves of {half} bits has sign-rank at most {number(value)}."
    )
    assumptions = (Assumption(f"the margin is at most the largest output, {number(largest)}", margin <= largest),)
    return Bound(value, "at most", sentence, "boolean-circuits, Theorem 12 (corrected)", assumptions)


def margin_width(half: int, *, weight: int | float, margin: int | float, sign_rank: int | float) -> Bound:
    """The least width at which Theorem 12 of boolean-circuits, corrected, allows this sign-rank.

    See `discrepancy_width` for products of gates: it is far better there.

    >>> margin_width(40, weight=1, margin=1, sign_rank=2.0**20).value
    7.0
    """
    check_positive(half=half, weight=weight, margin=margin, sign_rank=sign_rank)
    high = 1
    while _rounded_rank(high, half, weight, margin) < sign_rank:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _rounded_rank(middle, half, weight, margin) < sign_rank else (low, middle)
    sentence = (
        f"A ReLU network with weights up to {number(weight)} and margin {number(margin)} on two halves of {half} bits "
        f"needs at least {number(high)} units to have the signs of a matrix of sign-rank {number(sign_rank)}."
    )
    return Bound(float(high), "at least", sentence, "boolean-circuits, Theorem 12 (corrected)")


def _rounded_rank(width: int, half: int, weight: int | float, margin: int | float) -> float:
    pieces = math.ceil(2 * weight * width * (2 * half + 1) / margin)
    return float(4 * weight * width * half * pieces)


def _check_half(half: int) -> None:
    if not 1 <= half <= LARGEST_HALF:
        raise ValueError(
            f"A matrix over two halves of {half} bits has 4**{half} entries; it is built for halves of 1 to "
            f"{LARGEST_HALF} bits (128 MB). The bounds that need numbers only work for any size."
        )
