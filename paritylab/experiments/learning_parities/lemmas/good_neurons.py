"""What good neurons can express after the first step: the constructions in the proofs of Lemmas 10 to 12.

A good neuron's weights in A add up to 0. After the first step its output is ReLU6(u/n sum_j alpha_j x_j + b) with x_j
= +-1, alpha_j close to one alpha, and nothing from outside A. Times |r|/b, with u near -sign(r) n / (8 k alpha |r|),
that is the ideal feature psi_r = ReLU(-sign(r) z + |r|) of the sum z of the bits in A.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.stats import binom

from ....analysis import step_table
from ....cube import cube

CAP = 6.0
EPSILON = 0.25
"""How near to the ideal feature the neurons of the separator are, as in Lemma 10."""


def kind_probabilities(n: int, k: int, outside: bool = True) -> Float[np.ndarray, "..."]:
    """P over w of each kind of neuron: (active outside A,) +1s in A, -1s in A. Axes as in `StepTable`."""
    inside = np.zeros((k + 1, k + 1))
    for plus in range(k + 1):
        for minus in range(k + 1 - plus):
            inside[plus, minus] = math.comb(k, plus) * math.comb(k - plus, minus) / 3**k
    if not outside:
        return inside
    return binom.pmf(np.arange(n - k + 1), n - k, 2 / 3)[:, None, None] * inside


def ideal_output(r: int, alpha: float, n: int, k: int) -> float:
    """The u at which a good neuron is the ideal feature."""
    return -math.copysign(1.0, r) * n / (8 * k * alpha * abs(r))


def worst_feature_error(
    u: float, alphas: Float[np.ndarray, " k"], r: int, k: int, n: int, patterns: Float[np.ndarray, "patterns k"]
) -> float:
    """The largest |(|r|/b) ReLU6(u/n alphas . x + b) - psi_r(x)| over patterns of the bits in A, b = 1/(8k)."""
    b, z = 1 / (8 * k), patterns.sum(axis=1)
    unit = np.clip(u / n * (patterns @ alphas) + b, 0, CAP)
    return float(np.max(np.abs(abs(r) / b * unit - np.maximum(0, -math.copysign(1.0, r) * z + abs(r)))))


def interval_of(error: Callable[[float], float], r: int, alpha: float, n: int, k: int, allowed: float) -> float:
    """The probability of the u around the ideal one whose error is at most `allowed`, u uniform on [-n/k, n/k]."""
    centre, edge = ideal_output(r, alpha, n, k), n / k
    if error(centre) > allowed:
        return 0.0
    ends = []
    for side in (-1.0, 1.0):
        inner, outer = centre, side * edge
        if error(outer) <= allowed:
            ends.append(outer)
            continue
        for _ in range(60):
            middle = (inner + outer) / 2
            inner, outer = (middle, outer) if error(middle) <= allowed else (inner, middle)
        ends.append(inner)
    return (ends[1] - ends[0]) / (2 * edge)


def parity_by_features(k: int) -> Float[np.ndarray, " features"]:
    """The a_r with sum_r a_r psi_r = parity at z = -k, -k + 2, ..., k, for r in that order."""
    z = np.arange(-k, k + 1, 2)
    psi = np.maximum(0, -np.sign(z)[None, :] * z[:, None] + np.abs(z)[None, :])
    return np.linalg.solve(psi, (-1.0) ** ((k - z) // 2))


def constants_of_lemma_12(k: int, epsilon: float = EPSILON) -> tuple[float, float]:
    """B and B~ of |u*| <= B k^5 / sqrt(q) and |u*|_0 = B~ q / k^2.5, with as many neurons for each r as Lemma 11 says:
    2q eps / (112 k^2.5) of them share 2 a_r |r| / b.
    """
    r = np.arange(-k, k + 1, 2)
    each = 2 * parity_by_features(k) * np.abs(r) * 8 * k
    least = 2 * epsilon / (112 * k**2.5)
    return float(np.sqrt(np.sum(each**2) / least)) / k**5, (k + 1) * least * k**2.5


class Separator(NamedTuple):
    """A second layer over neurons after their first step."""

    outputs: Float[np.ndarray, " neurons"]
    margin: float
    """The least y g*(x) over the full support."""
    largest_unit: float
    """The largest output of a neuron that is used."""
    outside: float
    """The largest weight outside A, and bias shift, of a neuron that is used; 0 makes 2^k patterns the full support."""


def separator_of_lemma_12(n: int, k: int, pairs: int, seed: int, epsilon: float = EPSILON) -> Separator:
    """Random pairs after the exact first step; for each r the good ones with u within eps/k of the ideal share
    2 a_r |r|/b: then y g* is 2 up to the errors of the features."""
    rng, b = np.random.default_rng(seed), 1 / (8 * k)
    inside, active = rng.integers(-1, 2, (pairs, k)), rng.binomial(n - k, 2 / 3, pairs)
    # A pair has u and -u; both are neurons.
    u = np.concatenate([half := rng.uniform(-n / k, n / k, pairs), -half])
    inside, active = np.tile(inside, (2, 1)), np.tile(active, 2)
    table = step_table(n, k, b)
    kinds = active, np.sum(inside == 1, axis=1), np.sum(inside == -1, axis=1)
    alphas = np.take_along_axis(table.inside[kinds], inside + 1, axis=1)
    good = inside.sum(axis=1) == 0
    outputs = np.zeros(2 * pairs)
    for r, share in zip(range(-k, k + 1, 2), parity_by_features(k), strict=True):
        ideal = -math.copysign(1.0, r) * n / (8 * k * alphas.mean(axis=1) * abs(r))
        near = good & (np.abs(u / ideal - 1) <= epsilon / k)
        outputs[near] += 2 * share * abs(r) / b / max(near.sum(), 1)
    used = outputs != 0
    patterns = np.asarray(cube(k), float)
    units = np.clip(patterns @ (u[used, None] / n * alphas[used]).T + b, 0, CAP)
    moved = np.abs(u) / math.sqrt(n) * np.abs(table.outside[kinds]) + np.abs(u * table.bias[kinds])
    margin = float(np.min(patterns.prod(axis=1) * (units @ outputs[used])))
    return Separator(outputs, margin, float(units.max()), float(moved[used].max()))
