"""The distribution of the number of learned gates at +1, jointly with the label, exactly and at any size.

After the first layer of a depth-three network is trained, a symmetric second layer depends on the number K of
gates with output +1 alone. Under the uniform half, and under easy halves whose gates are independent given one shared
sign, the joint distribution of K and the label is a product of polynomials, one factor for each gate, whatever the
gates have learned.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from ..distributions import AbstractDistribution, EasyHalf, IndependentOutputs, Mixture, SharedSign, Uniform
from ..targets import GateProduct
from ..targets.gates import by_pattern
from .tables import Four


class CountDistribution(NamedTuple):
    """The distribution of the number K of gates at +1, from 0 to all."""

    probability: Float[np.ndarray, " counts"]
    """P(K = k)"""
    signal: Float[np.ndarray, " counts"]
    """E[y 1{K = k}]"""

    def error(self, positive: Bool[np.ndarray, " counts"]) -> float:
        """The error of the classifier that is +1 where K is one of the `positive` counts."""
        return float(np.sum(self.probability - np.where(positive, 1.0, -1.0) * self.signal) / 2)


def count_distribution(
    target: GateProduct, distribution: AbstractDistribution, learned: Four | None = None
) -> CountDistribution:
    """The distribution of K, where `learned` holds the output of each gate at its four patterns.

    Without `learned` the gates are the target's own: under the uniform half K is then a sum of two binomial numbers.
    (depth-separation: stage two depends on K alone.)

    >>> target = GateProduct(("OR", "OR"))
    >>> found = count_distribution(target, Uniform(target))
    >>> found.probability.tolist(), found.signal.tolist()
    ([0.0625, 0.375, 0.5625], [0.0625, -0.375, 0.5625])
    """
    if isinstance(distribution, Mixture):
        parts = [count_distribution(target, part, learned) for part in distribution.parts]
        return _mixed(parts, np.asarray(distribution.weights, float))
    if isinstance(distribution, Uniform):
        distribution = EasyHalf(target, IndependentOutputs(np.asarray(target.ors, float) / 2))
    if not isinstance(distribution, EasyHalf):
        raise ValueError(
            f"The distribution of counts is known for easy halves, the uniform half and mixtures of them, got "
            f"{type(distribution).__name__}. Count over a sample instead."
        )
    outputs, patterns = distribution.outputs, np.asarray(distribution.patterns, float)
    gates = np.asarray(by_pattern(np.asarray(target.tables, float)))
    learned = gates if learned is None else np.asarray(learned, float)
    if isinstance(outputs, IndependentOutputs):
        return _independent(gates, learned, patterns, np.asarray(outputs.mean, float))
    if not isinstance(outputs, SharedSign):
        raise ValueError(
            f"Counts need gates that are independent, or independent given one shared sign, got "
            f"{type(outputs).__name__}. Count over a sample instead."
        )
    direction, kept = np.asarray(outputs.direction, float), 1 - 2 * float(outputs.flip)
    given = [_independent(gates, learned, patterns, sign * kept * direction) for sign in (1, -1)]
    return _mixed(given, np.array([1 + float(outputs.mean), 1 - float(outputs.mean)]) / 2)


def _mixed(parts: list[CountDistribution], weights: Float[np.ndarray, " parts"]) -> CountDistribution:
    probability, signal = np.einsum("p,pik->ik", weights, np.array([[*part] for part in parts]))
    return CountDistribution(probability, signal)


def _independent(gates: Four, learned: Four, patterns: Four, mean: Float[np.ndarray, " gates"]) -> CountDistribution:
    """Independent gates: a factor P(-1) + P(+1) t each, and the same with the gate's output as a weight."""
    chance = patterns * (1 + gates * mean[:, None]) / 2
    found = []
    for weight in (chance, chance * gates):
        down, up = (np.sum(np.where(learned == sign, weight, 0.0), axis=1) for sign in (-1, 1))
        product = np.ones(1)
        for low, high in zip(down, up, strict=True):
            product = np.convolve(product, (low, high))
        found.append(product)
    return CountDistribution(*found)
