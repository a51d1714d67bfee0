"""The easy halves that the experiments compare, their targets, and what a first layer sees of samples of them."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

import paritylab as pl

from ....circuits.gate_training import Four
from ....distributions import AbstractDistribution
from ....targets.gates import by_pattern

ERROR = 0.01
"""On the uniform half, the most of a run that counts as learned layer by layer."""


def odd_near(value: float) -> int:
    """The odd number nearest to a value, at least 1."""
    return max(1, 2 * round((value - 1) / 2) + 1)


FAMILIES: dict[str, Callable[[pl.GateProduct], pl.distributions.EasyHalf]] = {
    "E1": pl.distributions.equal_gates,
    "E1'": pl.distributions.leave_one_out,  # equal but for one, n even
    "E2": lambda target: pl.distributions.random_subset(target, odd_near(target.pairs / 3)),
    "E3": lambda target: pl.distributions.independent_gates(target, 1 - 1 / target.pairs),
    "E4": pl.distributions.balanced_gates,
    "E5": lambda target: pl.distributions.sparse_pairs(target, 0.25),
    "E6": lambda target: pl.distributions.noisy_equal(target, 0.5 / target.pairs),
    "E7": pl.distributions.stealth,
}
"""Easy halves, their parameters as functions of the target."""


MEANINGS = {
    "E1": "equal gates",
    "E1'": "equal but one",
    "E2": "a subset equal",
    "E3": "nearly constant",
    "E4": "fair, independent",
    "E5": "sparse pairs",
    "E6": "equal with flips",
    "E7": "stealth",
    "hard": "uniform alone",
}
"""Easy halves in a few words, for figures."""


def mixture_of(family: str, target: pl.GateProduct, share: float = 0.5) -> AbstractDistribution:
    """The mixture of a family with the uniform half; the uniform half alone by the name `hard`."""
    if family == "hard":
        return pl.Uniform(target)
    subset = family.startswith("E2/")
    easy = pl.distributions.random_subset(target, int(family[3:])) if subset else FAMILIES[family](target)
    return pl.distributions.separation(easy, share)


def random_target(pairs: int, seed: int) -> pl.GateProduct:
    """Each gate OR or AND by a fair coin."""
    return pl.GateProduct(np.asarray(pl.targets.random_gate_product(pairs, key=pl.root_key(seed)).ors, float))


def alternating(pairs: int) -> pl.GateProduct:
    """As many ORs as ANDs, but for one if their number is odd."""
    return pl.GateProduct(np.where(np.arange(pairs) % 2, -1.0, 1.0))


def signs_of(target: pl.GateProduct) -> Four:
    """The gates' outputs by pattern."""
    return np.asarray(by_pattern(np.asarray(target.tables, float)))


def side_by_side(x: Float[np.ndarray, "points n"]) -> Float[np.ndarray, "points n"]:
    """Points (x, z) with the two inputs of each gate beside each other, as gates of circuits have them."""
    return x.reshape(len(x), 2, -1).swapaxes(1, 2).reshape(len(x), -1)


def signals_of_prefixes(
    x: Float[np.ndarray, "points n"], y: Float[np.ndarray, " points"], sizes: Sequence[int]
) -> Float[np.ndarray, "sizes gates 4"]:
    """The mean of y 1{p} for each gate and pattern over the first so many points, for several sizes in order."""
    sums, start, total = [], 0, np.zeros((x.shape[1] // 2, 4))
    for size in sizes:
        part = pl.circuits.SamplePatterns(side_by_side(x[start:size]), y[start:size])
        total = total + (size - start) * part.tables()[1]
        sums.append(total / size)
        start = size
    return np.stack(sums)


def gate_values(learned: Four, x: Float[np.ndarray, "points n"]) -> Float[np.ndarray, "points gates"]:
    """The signs that gates with these outputs at their patterns give at points (x, z)."""
    first, second = np.split(x < 0, 2, axis=1)
    return np.take_along_axis(learned.T, first.astype(np.int8) + 2 * second.astype(np.int8), axis=0)
