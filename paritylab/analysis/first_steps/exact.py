"""The first gradient step of the network of learning-parities, exactly, at any n.

Points are +-1/sqrt(n). D_A is an even mixture of the uniform distribution and of one whose bits in A are all
equal (learning-parities, Section 2); the label is the parity of A, |A| = k odd. A network of paired neurons starts as
the zero function (the pair shares w and b and differs in the sign of u), so that the slope of the hinge
loss is -y everywhere, and with rate 1 and decay 1/2 the old weights are erased: each neuron's new weights are
w = u E[y x sigma'], b + u E[y sigma'] and u = E[y sigma], with sigma = ReLU6 and weights in {-1, 0, 1}.

The sum over bits outside A is a shifted binomial, and what is left depends on the bits in A: O(2**k + n) a neuron.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Integer
from scipy.stats import binom

from ..gradients.population import members

CAP = 6.0
LARGEST_DEGREE = 20


class Correlations(NamedTuple):
    """E[y x_i sigma'(w . x + b)], E[y sigma'(w . x + b)] and E[y sigma(w . x + b)] of one neuron."""

    weight: Float[np.ndarray, " n"]
    bias: float
    output: float

    def mixed(self, other: "Correlations") -> "Correlations":
        """The correlations under an even mixture of two distributions."""
        parts: Any = zip(self, other, strict=True)
        return Correlations(*((mine + theirs) / 2 for mine, theirs in parts))


class FirstStep(NamedTuple):
    """The weights of all neurons after the first step."""

    weight: Float[np.ndarray, "neurons n"]
    bias: Float[np.ndarray, " neurons"]
    output: Float[np.ndarray, " neurons"]


class Binomials(NamedTuple):
    """E[sigma] and E[sigma'] given the sum s over the bits in A, for s = -top, ..., top."""

    value: Float[np.ndarray, " sums"]
    slope: Float[np.ndarray, " sums"]
    top: int

    def at(self, s: Integer[np.ndarray, "..."]) -> tuple[np.ndarray, np.ndarray]:
        """E[sigma] and E[sigma'] at the sums s."""
        return self.value[s + self.top], self.slope[s + self.top]


def given_sum(n: int, active: int, bias: int | float, top: int) -> Binomials:
    """E over `active` fair signs of ReLU6 and of its slope at (s + their sum) / sqrt(n) + bias, for |s| <= top.

    The sum is distributed as 2 Bin(active, 1/2) - active. The slope is 1 strictly between 0 and 6.

    >>> given_sum(4, 2, 0.0, 1).slope.round(12).tolist()
    [0.25, 0.25, 0.75]
    """
    sums = 2 * np.arange(active + 1) - active
    mass = binom.pmf(np.arange(active + 1), active, 0.5)
    z = (np.arange(-top, top + 1)[:, None] + sums) / np.sqrt(n) + bias
    return Binomials(np.clip(z, 0, CAP) @ mass, ((z > 0) & (z < CAP)) @ mass, top)


def first_correlations(
    weights: Integer[np.ndarray, " n"], bias: int | float, support: Sequence[int]
) -> tuple[Correlations, Correlations]:
    """The correlations of one neuron, on uniform points and on points with equal bits in A (learning-parities).

    Lemma 7: on the latter E[y sigma'] and E[y x_j sigma'] for j outside A are 0 where the weights in A add up to 0.

    >>> weights = np.array([1, -1, 0, 1, 1, 0, -1])
    >>> uniform, equal = first_correlations(weights, 1 / 24, (0, 1, 2))
    >>> equal.bias, np.abs(equal.weight[3:]).tolist()
    (0.0, [0.0, 0.0, 0.0, 0.0])
    """
    n, member = len(weights), members(len(weights), support)
    _check(weights, support)
    inside, outside = weights[member], weights[~member]
    k, active = len(inside), int(np.sum(outside != 0))
    cube = 1 - 2 * ((np.arange(2**k)[:, None] >> np.arange(k)) & 1)
    equal = np.array([[1] * k, [-1] * k])
    binomials, without_one = given_sum(n, active, bias, k), given_sum(n, max(active - 1, 0), bias, k + 1)

    def means(patterns: Integer[np.ndarray, "patterns k"]) -> Correlations:
        """Over equally likely patterns of the bits in A."""
        y, s = np.prod(patterns, axis=1), patterns @ inside
        value, slope = binomials.at(s)
        up, down = without_one.at(s + 1)[1], without_one.at(s - 1)[1]
        weight = np.zeros(n)
        weight[member] = (y * slope) @ patterns / len(y) / np.sqrt(n)
        # A bit j outside A with weight w_j: E[x_j h(s + w_j x_j)] = w_j (h(s + 1) - h(s - 1)) / 2.
        weight[~member] = outside * np.mean(y * (up - down)) / 2 / np.sqrt(n)
        return Correlations(weight, float(np.mean(y * slope)), float(np.mean(y * value)))

    return means(cube), means(equal)


def first_step(
    weights: Integer[np.ndarray, "neurons n"],
    biases: Float[np.ndarray, " neurons"],
    outputs: Float[np.ndarray, " neurons"],
    support: Sequence[int],
    *,
    rate: int | float = 1.0,
    decay: int | float = 0.5,
) -> FirstStep:
    """The network after one step of population gradient descent on D_A from a zero function.

    With the loss E[hinge] + decay * (|u|**2 + |w|**2); biases do not decay. Rate 1 and decay 1/2 are those of
    learning-parities, Theorem 3.

    >>> weights = np.array([[1, -1, 0, 1, 1, 0, -1]])
    >>> step = first_step(weights, np.array([1 / 24]), np.array([2.0]), (0, 1, 2))
    >>> step.weight.round(4)[0, :4].tolist()
    [0.189, 0.189, 0.189, 0.0]
    """
    halves = (first_correlations(w, float(b), support) for w, b in zip(weights, biases, strict=True))
    mixed = [uniform.mixed(equal) for uniform, equal in halves]
    keep = 1 - 2 * rate * decay
    return FirstStep(
        keep * weights + rate * outputs[:, None] * np.stack([each.weight for each in mixed]),
        biases + rate * outputs * np.array([each.bias for each in mixed]),
        keep * outputs + rate * np.array([each.output for each in mixed]),
    )


class FirstStepQuality(NamedTuple):
    """The quantities of learning-parities, Lemma 9, of one neuron, and the deviation of its Lemma 8."""

    alpha: Float[np.ndarray, " k"]
    """sqrt(n) E[y x_j sigma'] for j in A; by Lemma 9 within C_1 sqrt(n) / u of a number in [1/4, 1]."""
    outside: float
    """max over j outside A of |E[y x_j sigma']|; times u it is C_2 / (n - 1) in Lemma 9."""
    bias: float
    """|E[y sigma']|; times u it is the bias's change, C_3 / sqrt(n) in Lemma 9."""
    deviation: float
    """Lemma 8: the largest |E[h sigma'] - E[h] phi| over signs h of the bits in A, on D_A."""
    scaled_deviation: float
    """The same times sqrt(|J|) / k, which Lemma 8 bounds by a constant."""


def first_step_quality(
    weights: Integer[np.ndarray, " n"], bias: int | float, support: Sequence[int]
) -> FirstStepQuality:
    """The quality of a neuron after its first step (learning-parities, Lemmas 8 and 9).

    phi is the probability that the bits outside A alone put the neuron between k/sqrt(n) and 6 - k/sqrt(n). The worst
    sign h in Lemma 8 is that of E[sigma' | x_A] - phi, so that the deviation is the mean of its absolute value.

    >>> quality = first_step_quality(np.array([1, -1, 0] + [1, -1] * 50), 1 / 24, (0, 1, 2))
    >>> quality.bias, round(quality.scaled_deviation, 2)
    (0.0, 0.52)
    """
    n, member = len(weights), members(len(weights), support)
    uniform, equal = first_correlations(weights, bias, support)
    both = uniform.mixed(equal)
    inside, k = weights[member], len(support)
    active = int(np.sum(weights[~member] != 0))
    sums = (2 * np.arange(active + 1) - active) / np.sqrt(n) + bias
    between = (sums > k / np.sqrt(n)) & (sums < CAP - k / np.sqrt(n))
    phi = float(between @ binom.pmf(np.arange(active + 1), active, 0.5))
    slopes = given_sum(n, active, bias, k)
    cube = 1 - 2 * ((np.arange(2**k)[:, None] >> np.arange(k)) & 1)
    on_cube = np.abs(slopes.at(cube @ inside)[1] - phi)
    total = int(inside.sum())
    on_equal = np.abs(slopes.at(np.array([total, -total]))[1] - phi)
    deviation = float((on_cube.mean() + on_equal.mean()) / 2)
    outside, scaled = float(np.abs(both.weight[~member]).max(initial=0.0)), float(deviation * np.sqrt(active) / k)
    return FirstStepQuality(np.sqrt(n) * both.weight[member], outside, abs(both.bias), deviation, scaled)


def _check(weights: Integer[np.ndarray, " n"], support: Sequence[int]) -> None:
    if len(support) % 2 == 0 or len(support) > LARGEST_DEGREE:
        raise ValueError(
            f"The first step of learning-parities needs an odd k <= {LARGEST_DEGREE}, for its 2**k patterns, got "
            f"k={len(support)}."
        )
    if not np.all(np.abs(weights) <= 1):
        raise ValueError(
            f"The first step of learning-parities needs weights in -1, 0, 1, got {weights[np.abs(weights) > 1][0]}; "
            "for other integers use `gradient_by_sums`."
        )
