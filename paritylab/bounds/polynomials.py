"""Theorem I: the 0-1 error of a network of depth two on a product of gates, from its weights and the law of its output.

F is a product of n gates under the uniform distribution, N a network of depth two. A network is a signed mean of
rectangles of x and z, and a product of rectangles is one, so that F hardly correlates with any power of N:
|E[F N^j]| <= c_j (`moment_bounds`). Then for every polynomial p

    E[F sgn N] = E[F (sgn N - p(N))] + E[F p(N)] <= E|sgn N - p(N)| + sum of |p_j| c_j,

and the error P[F N <= 0] is at least (1 + P[N = 0] - that) / 2. The best polynomial of a degree is the solution of a
linear program over the law of N. Whatever polynomial it finds, the bound is what that polynomial proves: a program that
was not solved well gives a smaller bound, never a wrong one. Source: depth-separation, Theorem I.
"""

import dataclasses
import math
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float
from scipy.optimize import linprog

from ..demands import check_number, check_whole
from .base import Bound, check_positive, number, parts_of
from .discrepancy import LARGEST_SORTED_HALF, exact_integrals, unit_integrals
from .shallow import ShallowNetwork, network_correlation

LARGEST_DEGREE = 15
ROUNDING = 1e-6
"""A degree at which rounding could move the bound by more is refused."""
NEGLIGIBLE = 1e-11
"""Costs and probabilities below this are raised to it, or left out, where the linear program is solved."""
ERRORS_OF_THE_MEAN = 4.0
"""Standard errors by which a mean over a sample is raised: one in 30,000 is above that."""
FINEST = 400
"""Values of an exact law that the linear program weighs; others are merged for it, and for it alone."""


class ImpreciseError(ValueError):
    """The degree of a polynomial is too large for float64."""


class OutputLaw(NamedTuple):
    """The law of a network's output: the probability of each of some cells [low, high], in order.

    An exact law has a cell for each value. That of a sample has cells between some of its order statistics, which
    is all that has to be kept of it; a value in a cell counts as what is worst for the bound in that cell.
    """

    low: Float[np.ndarray, " cells"]
    high: Float[np.ndarray, " cells"]
    probability: Float[np.ndarray, " cells"]
    samples: int | None = None
    """The number of independent examples; None where the law is exact."""

    @classmethod
    def exact(
        cls, values: Float[np.ndarray, "..."], probability: Float[np.ndarray, "..."] | None = None
    ) -> "OutputLaw":
        """The law of values with their probabilities, equal ones if not given.

        >>> OutputLaw.exact(np.array([1.0, -1.0, 1.0, 1.0])).probability.tolist()
        [0.25, 0.75]
        """
        flat = np.asarray(values, float).ravel()
        chance = np.full(flat.size, 1 / max(flat.size, 1)) if probability is None else np.ravel(probability)
        if flat.size == 0 or chance.shape != flat.shape or not np.all(np.isfinite(flat)):
            raise ValueError(
                f"A law needs finite values, each with a probability, got {flat.size} values and {chance.size} "
                "probabilities. Leave out what diverged."
            )
        if not (np.all(chance >= 0) and abs(chance.sum() - 1) <= 1e-9):
            raise ValueError(f"The probabilities of a law add up to 1, got {float(chance.sum()):.9g}. Divide by that.")
        places, which = np.unique(flat, return_inverse=True)
        return cls(places, places, np.bincount(which.ravel(), weights=chance))

    @classmethod
    def sampled(cls, values: Float[np.ndarray, " samples"], cells: int | None = None) -> "OutputLaw":
        """The law of independent values, of which some order statistics are kept, all if `cells` is not given.

        >>> law = OutputLaw.sampled(np.arange(1000.0), cells=20)
        >>> len(law.low) <= 40, float(law.low[0]), float(law.high[-1]), law.samples
        (True, 0.0, 999.0, 1000)
        """
        ordered = np.sort(np.asarray(values, float).ravel())
        if len(ordered) < 2 or not np.all(np.isfinite(ordered)):
            raise ValueError(
                f"A law is sampled from two finite values or more, got {len(ordered)}. Leave out what diverged."
            )
        return cls.of_order_statistics(ordered[kept_places(len(ordered), cells)], len(ordered), cells)

    @classmethod
    def of_order_statistics(
        cls, kept: Float[np.ndarray, " kept"], samples: int, cells: int | None = None
    ) -> "OutputLaw":
        """The law of a sample from its order statistics at `kept_places(samples, cells)`."""
        places, kept = kept_places(samples, cells), np.asarray(kept, float)
        inside = np.diff(places)
        inside[0] += 1  # the first place is the least value itself, in the first cell
        return cls(kept[:-1], kept[1:], inside / samples, samples)

    @property
    def size(self) -> float:
        """A scale: the root of the mean square of the cells' ends, the larger of both."""
        return math.sqrt(float(self.probability @ np.maximum(self.low**2, self.high**2)))

    def mean_power(self, degree: int) -> float:
        """E|N|^j, or no less than that where values lie in cells."""
        return float(self.probability @ np.maximum(np.abs(self.low), np.abs(self.high)) ** degree)


def kept_places(samples: int, cells: int | None = None) -> np.ndarray:
    """Which order statistics of a sample are kept: evenly spread, and ever closer towards both ends.

    >>> kept_places(1000, 8).tolist()
    [0, 1, 3, 7, 15, 31, 124, 249, 374, 499, 624, 749, 874, 968, 984, 992, 996, 998, 999]
    """
    if cells is None or cells >= samples:
        return np.arange(samples)
    even = np.linspace(0, samples - 1, cells + 1).astype(int)
    edge = 2 ** np.arange(int(math.log2(max(samples / cells, 2)))) - 1
    return np.unique(np.concatenate([even, edge, samples - 1 - edge]))


def moment_bounds(network: ShallowNetwork, degree: int) -> Float[np.ndarray, " degrees"]:
    """c_0, ..., c_J with |E[F N^j]| <= c_j for every product F of gates (depth-separation, Theorem I).

    c_0 = 2^-n, c_1 is `network_correlation`, and c_j = 2^(-n/2) Lambda_j^j with Lambda_j = |u0| + the sum of |u_i|
    times the integral of (P[<w_i, x> > s] P[<v_i, z> + b_i >= -s])^(1 / 2j): the probability that j sets meet is
    at most the product of the j-th roots of theirs. It is at most the range of unit i, and by Hoeffding at most
    sqrt(pi j) (|w_i|_2 + |v_i|_2) + (b_i)_+.

    >>> one = np.eye(4)
    >>> moment_bounds(ShallowNetwork(one, one, np.zeros(4), np.ones(4), -2.0), 3).round(3).tolist()
    [0.062, 1.0, 14.657, 145.525]
    """
    check_degree(degree)
    half, norms = network.half, np.linalg.norm(network.left, axis=1) + np.linalg.norm(network.right, axis=1)
    reach = np.maximum(np.abs(network.left).sum(axis=1) + np.abs(network.right).sum(axis=1) + network.bias, 0)
    tails, found = _tails(network, max(degree, 1)), [2.0**-half]
    for j in range(1, degree + 1):
        hoeffding = math.sqrt(math.pi * j) * norms + np.maximum(network.bias, 0)
        units = np.minimum(np.minimum(reach, hoeffding), tails[:, j - 1])
        found.append(2.0 ** (-half / 2) * (abs(network.output_bias) + float(np.abs(network.output) @ units)) ** j)
    if degree:
        found[1] = min(found[1], network_correlation(network).value)
    return np.array(found)


def _tails(network: ShallowNetwork, degree: int) -> Float[np.ndarray, "units degree"]:
    """For each unit and j the integral of the 2j-th root of the product of both tails."""
    if network.half <= LARGEST_SORTED_HALF:
        units = zip(network.left, network.right, network.bias.tolist(), strict=True)
        return np.stack([exact_integrals(*unit, degree).roots for unit in units])
    with jax.enable_x64(True):
        weights = (np.asarray(part, np.float64) for part in (network.left, network.right, network.bias))
        return np.asarray(unit_integrals(*weights, degree=degree).roots)


@dataclasses.dataclass(frozen=True)
class Polynomial:
    """p(v) = sum of coefficients_j (v / scale)^j."""

    coefficients: Float[np.ndarray, " degrees"]
    scale: float

    def __call__(self, values: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        return np.asarray(np.polynomial.polynomial.polyval(np.asarray(values, float) / self.scale, self.coefficients))

    def distances(self, law: OutputLaw) -> Float[np.ndarray, " cells"]:
        """The largest |sgn v - p(v)| over each cell: at its ends, at 0, or where p is stationary."""
        slope = np.polynomial.polynomial.polyder(self.coefficients)
        slope = np.trim_zeros(slope, "b")
        roots = np.polynomial.polynomial.polyroots(slope) if len(slope) > 1 else np.zeros(0)
        turns = self.scale * np.real(roots)  # a complex one adds a place, which does no harm
        away = lambda places: np.abs(np.sign(places) - self(places))
        found = np.maximum(away(law.low), away(law.high))
        for place in turns:
            inside = (law.low < place) & (place < law.high)
            found = np.where(inside, np.maximum(found, away(np.asarray(place))), found)
        zero = (law.low <= 0) & (law.high >= 0) & (law.low < law.high)  # either sign occurs there
        return np.where(zero, np.maximum(found, 1 + self._largest_near_zero(law, turns)), found)

    def _largest_near_zero(self, law: OutputLaw, turns: Float[np.ndarray, " turns"]) -> Float[np.ndarray, " cells"]:
        """The largest |p| over each cell."""
        found = np.maximum(np.abs(self(law.low)), np.abs(self(law.high)))
        for place in turns:
            inside = (law.low < place) & (place < law.high)
            found = np.where(inside, np.maximum(found, np.abs(self(np.asarray(place)))), found)
        return found

    def rounding(self, law: OutputLaw) -> float:
        """More than rounding can change of E|sgn N - p(N)|."""
        sizes = np.maximum(np.abs(law.low), np.abs(law.high)) / self.scale
        terms = np.polynomial.polynomial.polyval(sizes, np.abs(self.coefficients))
        operations = 4 * len(self.coefficients) + len(law.low) + 8
        return float(operations * np.finfo(float).eps * (1 + law.probability @ terms))


def best_polynomial(
    law: OutputLaw, correlations: Float[np.ndarray, " degrees"], moments: Float[np.ndarray, " degrees"] | None = None
) -> Polynomial:
    """The p that minimizes E|sgn N - p(N)| + sum of |p_j| c_j, by a linear program in units of the law's size.

    Where true moments m_j = E[F N^j] are given, sum of p_j m_j is in the place of the second sum.
    """
    scale, degrees = law.size or 1.0, np.arange(len(correlations))
    values, weights = _places(law)
    powers = (values / scale)[:, None] ** degrees
    costs = np.maximum(np.asarray(correlations, float) / scale**degrees, NEGLIGIBLE)
    costs = np.concatenate([costs, costs] if moments is None else [moments / scale**degrees, -moments / scale**degrees])
    one, signs = np.eye(len(values)), np.sign(values)
    # The rows in turn: sgn - p <= t and p - sgn <= t, p = its positive part less its negative one.
    conditions = np.block([[powers, -powers, -one], [-powers, powers, -one]])
    limits = np.concatenate([signs, -signs])
    solve = lambda method: linprog(np.concatenate([costs, weights]), conditions, limits, method=method)
    tried = (solve(method) for method in ("highs", "highs-ds", "highs-ipm"))
    found = next((each for each in tried if each.status in (0, 2, 3)), None)
    if moments is not None and (found is None or found.status != 0):  # unbounded: by duality there is no such F
        raise ValueError(
            f"The law of N does not allow the moments E[F N^j] = {', '.join(map(number, moments.tolist()))}: no F "
            "between -1 and 1 has them all. Take the moments of the same network, on the same points."
        )
    if found is None or found.status != 0:
        fewer = correlations[:-1]
        return best_polynomial(law, fewer) if len(fewer) else Polynomial(np.zeros(1), scale)
    positive, negative = np.split(found.x[: 2 * len(correlations)], 2)
    return Polynomial(positive - negative, scale)


def _places(law: OutputLaw) -> tuple[Float[np.ndarray, " places"], Float[np.ndarray, " places"]]:
    """Places and weights for the linear program: the ends of the cells, a few hundred at the most."""
    values = np.concatenate([law.low, law.high])
    weights = np.concatenate([law.probability, law.probability]) / 2
    order = np.argsort(values, kind="stable")
    values, weights = values[order], weights[order]
    if len(np.unique(values)) > FINEST:  # narrower cells in the tails, where powers grow
        below = np.cumsum(weights) - weights / 2
        tail = -8 * np.log2(np.minimum(below, 1 - below).clip(1e-12))
        cells = np.stack([below * FINEST, np.maximum(tail, 50), values > 0]).astype(int)
        which = np.unique(cells, axis=1, return_inverse=True)[1].ravel()
    else:
        which = np.unique(values, return_inverse=True)[1].ravel()
    total = np.bincount(which, weights=weights)
    means = np.bincount(which, weights=weights * values) / np.where(total > 0, total, 1)
    return means[total > NEGLIGIBLE], total[total > NEGLIGIBLE]


def polynomial_error(
    half: int,
    law: OutputLaw,
    correlations: Float[np.ndarray, " degrees"],
    *,
    chosen_on: OutputLaw | None = None,
    share: int | float = 1.0,
) -> Bound:
    """Theorem I: the 0-1 error is at least share (1 + P[N = 0] - E|sgn N - p(N)| - sum |p_j| c_j) / 2 (see the module).

    `correlations` are c_0, ..., c_J, `moment_bounds` or the true |E[F N^j]|, and J is the degree. The law of a
    sample counts with four standard errors more than its mean, for a polynomial that was chosen on the law of another
    sample, `chosen_on`. `share` is the weight of the uniform distribution in a mixture.

    >>> values = np.array([-3.0, -1.0, 1.0, 3.0])
    >>> print(polynomial_error(20, OutputLaw.exact(values), np.array([0.0, 0.0, 0.0, 0.0])))
    The error of this network on a product of 20 gates is at least 0.5. [depth-separation, Theorem I]
    """
    check_positive(half=half)
    check_number("share", share)
    if not 0 < share <= 1:
        raise ValueError(f"The share of the uniform distribution lies in (0, 1], got share={share}.")
    allowed = np.asarray(correlations, float)
    check_degree(len(allowed) - 1)
    if not np.all(allowed >= 0):
        raise ValueError(
            f"Bounds on |E[F N^j]| are 0 or more, got {', '.join(map(number, allowed.tolist()))}. Give absolute values."
        )
    if law.samples is not None and chosen_on is None:
        raise ValueError(
            f"This law is that of a sample of {law.samples:,}, and a polynomial chosen on it fits its noise. "
            "Give `chosen_on`, the law of another sample."
        )
    allowed = np.where(np.isfinite(allowed), allowed, 1e300)
    polynomial = best_polynomial(law if chosen_on is None else chosen_on, allowed)
    distance, rounding = _distance(polynomial, law)
    scaled = np.abs(polynomial.coefficients) / polynomial.scale ** np.arange(len(polynomial.coefficients))
    penalty = float(np.where(scaled > 0, scaled * allowed[: len(scaled)], 0).sum() * (1 + 1e-12))
    at_zero = float(law.probability[(law.low == 0) & (law.high == 0)].sum()) if law.samples is None else 0.0
    value = share * max(0.0, (1 + at_zero - distance - penalty - rounding) / 2)
    sentence = f"The error of this network on a product of {half} gates is at least {number(value)}."
    if law.samples is not None:
        sentence = f"{sentence[:-1]}, but for four standard errors of a sample of {law.samples:,}."
    parts = parts_of(distance=distance, correlation=penalty, rounding=rounding)
    return Bound(value, "at least", sentence, "depth-separation, Theorem I", parts=parts)


def error_of_moments(law: OutputLaw, moments: Float[np.ndarray, " degrees"]) -> Bound:
    """The least error that an F between -1 and 1 with these true moments E[F N^j], j = 0, ..., J, leaves to sgn N.

    By duality the largest E[G sgn N] over all G between -1 and 1 with the moments of F. Moments that no such G has
    under the law of N are refused.

    >>> round(error_of_moments(OutputLaw.exact(np.array([-1.0, 1.0])), np.array([0.0, 0.5])).value, 9)
    0.25
    """
    given = np.asarray(moments, float)
    check_degree(len(given) - 1)
    if law.samples is not None:
        raise ValueError("True moments belong to an exact law; a sample's have intervals. Use `polynomial_error`.")
    for j, moment in enumerate(given.tolist()):
        most = law.mean_power(j)
        if not abs(moment) <= most * (1 + 1e-9) + 1e-12:
            raise ValueError(
                f"The law of N does not allow E[F N^{j}] = {number(moment)}: its size is at most E|N|^{j} = "
                f"{number(most)}. Take the moments of the same network, on the same points."
            )
    polynomial = best_polynomial(law, np.abs(given), given)
    distance, rounding = _distance(polynomial, law)
    gained = float(polynomial.coefficients @ (given / polynomial.scale ** np.arange(len(given))))
    at_zero = float(law.probability[law.low == 0].sum())
    value = max(0.0, (1 + at_zero - distance - gained - rounding) / 2)
    sentence = f"A network with these moments has an error of at least {number(value)}."
    return Bound(value, "at least", sentence, "depth-separation, Theorem I", parts=parts_of(distance=distance))


def _distance(polynomial: Polynomial, law: OutputLaw) -> tuple[float, float]:
    """E|sgn N - p(N)|, raised by its standard errors where it is a mean over a sample, and what rounding may add."""
    each, rounding = polynomial.distances(law), polynomial.rounding(law)
    if not rounding <= ROUNDING:
        raise ImpreciseError(
            f"The degree J={len(polynomial.coefficients) - 1} is too large for the precision: rounding could move the "
            f"bound by {number(rounding)}. Lower the degree."
        )
    mean = float(law.probability @ each)
    if law.samples is None:
        return mean, rounding
    spread = math.sqrt(float(law.probability @ each**2) / law.samples)  # the root of the mean square is no less
    return mean + ERRORS_OF_THE_MEAN * spread, rounding


def check_degree(degree: int) -> None:
    """Raise unless a polynomial of this degree can be had."""
    check_whole("degree", degree)
    if not 0 <= degree <= LARGEST_DEGREE:
        raise ValueError(
            f"A polynomial has a degree from 0 to {LARGEST_DEGREE} here, got degree={degree}: beyond, powers of the "
            "output leave the precision of float64. Lower the degree."
        )
