"""How many of some learned gates say +1, and what does that number tell of the label? Exactly, at any size.

After the first layer of a depth-three network is trained, a symmetric second layer sees of a point only the number K
of gates with output +1. Under the uniform half, and under easy halves whose gates are independent given one shared
sign, the law of K and of the label with it is a product of polynomials, one factor for each gate, whatever the gates
have learned.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from ..distributions import AbstractDistribution, EasyHalf, IndependentOutputs, Mixture, SharedSign, Uniform
from ..targets import GateProduct
from ..targets.gates import by_pattern
from .tables import Four


class CountLaw(NamedTuple):
    """The number K of gates that say +1, from 0 to all."""

    probability: Float[np.ndarray, " counts"]
    """P(K = k)"""
    signal: Float[np.ndarray, " counts"]
    """E[y 1{K = k}]"""

    def error(self, positive: Bool[np.ndarray, " counts"]) -> float:
        """P(y differs from the answer) of a classifier that says +1 where K is one of the `positive` counts."""
        return float(np.sum(self.probability - np.where(positive, 1.0, -1.0) * self.signal) / 2)


def count_law(target: GateProduct, law: AbstractDistribution, learned: Four | None = None) -> CountLaw:
    """The law of K under `law`, where `learned` holds the signs that each gate gives at its four patterns.

    Without `learned` the gates are the target's own: under the uniform half K is then a sum of two binomial numbers.
    (depth-separation: stage two depends on K alone.)

    >>> target = GateProduct(("OR", "OR"))
    >>> count_law(target, Uniform(target)).probability.tolist(), count_law(target, Uniform(target)).signal.tolist()
    ([0.0625, 0.375, 0.5625], [0.0625, -0.375, 0.5625])
    """
    if isinstance(law, Mixture):
        parts = [count_law(target, part, learned) for part in law.parts]
        return _mixed(parts, np.asarray(law.weights, float))
    if isinstance(law, Uniform):
        law = EasyHalf(target, IndependentOutputs(np.asarray(target.ors, float) / 2))
    if not isinstance(law, EasyHalf):
        raise ValueError(
            f"The law of counts is known for easy halves, the uniform half and mixtures of them, got "
            f"{type(law).__name__}. Count over a sample instead."
        )
    outputs, patterns = law.outputs, np.asarray(law.patterns, float)
    gates = np.asarray(by_pattern(np.asarray(target.tables, float)))
    said = gates if learned is None else np.asarray(learned, float)
    if isinstance(outputs, IndependentOutputs):
        return _independent(gates, said, patterns, np.asarray(outputs.mean, float))
    if not isinstance(outputs, SharedSign):
        raise ValueError(
            f"Counts need gates that are independent, or independent given one shared sign, got "
            f"{type(outputs).__name__}. Count over a sample instead."
        )
    direction, kept = np.asarray(outputs.direction, float), 1 - 2 * float(outputs.flip)
    given = [_independent(gates, said, patterns, sign * kept * direction) for sign in (1, -1)]
    return _mixed(given, np.array([1 + float(outputs.mean), 1 - float(outputs.mean)]) / 2)


def _mixed(parts: list[CountLaw], weights: Float[np.ndarray, " parts"]) -> CountLaw:
    probability, signal = np.einsum("p,pik->ik", weights, np.array([[*part] for part in parts]))
    return CountLaw(probability, signal)


def _independent(gates: Four, said: Four, patterns: Four, mean: Float[np.ndarray, " gates"]) -> CountLaw:
    """Independent gates: a factor P(says -1) + P(says +1) t each, and the same with the gate's output as a weight."""
    chance = patterns * (1 + gates * mean[:, None]) / 2
    found = []
    for weight in (chance, chance * gates):
        down, up = (np.sum(np.where(said == sign, weight, 0.0), axis=1) for sign in (-1, 1))
        product = np.ones(1)
        for low, high in zip(down, up, strict=True):
            product = np.convolve(product, (low, high))
        found.append(product)
    return CountLaw(*found)
