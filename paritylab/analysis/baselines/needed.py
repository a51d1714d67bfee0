"""What a baseline needs on a target, over seeds: examples, queries and seconds, each with an interval."""

import abc
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import equinox as eqx
import jax
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ...cube import random_signs, root_key
from ...demands import check_kind, check_whole, echo
from ...statistics import Interval, median_interval, quantile
from ...targets import AbstractRealTarget, AbstractTarget

FRESH = 2048
"""Points on which an answer is compared with the target."""
ERROR = 0.01
"""The share of wrong signs, or of the mean square of a real target, up to which it is learned."""


class Attempt(NamedTuple):
    """What a baseline found in one run."""

    learned: bool
    """Whether its answer is the target, on fresh points."""
    samples: int
    """Uniform examples it was given; 0 for one that asks."""
    queries: int
    """Points of its own choice whose values it asked for."""
    seconds: float
    """On this machine, without the drawing of examples."""


class AbstractBaseline(abc.ABC):
    """A learner that is no network: called with a target and a key it makes one attempt."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """What a line in a figure is called."""

    @abc.abstractmethod
    def __call__(self, target: AbstractTarget, key: PRNGKeyArray) -> Attempt:
        """One attempt on one target."""


@dataclass(frozen=True)
class Needed:
    """What a baseline needed over several seeds; a run that did not learn needs infinitely many examples."""

    name: str
    samples: Float[np.ndarray, " runs"]
    queries: Float[np.ndarray, " runs"]
    seconds: Float[np.ndarray, " runs"]

    @property
    def learned(self) -> int:
        """The number of runs that learned."""
        return int(np.sum(np.isfinite(self.seconds)))

    def median(self, what: str = "samples") -> tuple[float, Interval]:
        """The median of `samples`, `queries`, `seconds` or `examples` (samples and queries), and an interval of it."""
        values = self.samples + self.queries if what == "examples" else getattr(self, what)
        return quantile(values, 0.5), median_interval(values)


Targets = AbstractTarget | Callable[[PRNGKeyArray], AbstractTarget]


def what_is_needed(baseline: AbstractBaseline, target: Targets, seeds: int = 25, *, first_seed: int = 0) -> Needed:
    """What a baseline needs on a target, or on targets drawn from keys, over so many seeds.

    >>> from paritylab import random_parity
    >>> from paritylab.analysis import Elimination
    >>> found = what_is_needed(Elimination(), lambda key: random_parity(20, 3, key=key), seeds=9)
    >>> found.learned, 20 <= found.median("samples")[0] <= 24
    (9, True)
    """
    check_kind("baseline", baseline, AbstractBaseline, "a baseline, such as Elimination()")
    check_whole("seeds", seeds, 1)
    attempts = []
    for seed in range(first_seed, first_seed + seeds):
        target_key, run_key = jr.split(root_key(seed))
        one = target if isinstance(target, AbstractTarget) else target(target_key)
        check_kind("target", one, AbstractTarget, "a target, or a function from a key to one")
        attempts.append(baseline(one, run_key))
    table = np.array([attempt[1:] for attempt in attempts], float)
    table[[not attempt.learned for attempt in attempts]] = math.inf
    return Needed(baseline.name, *table.T)


class Judge:
    """Fresh points of a target, on which answers are compared with it."""

    def __init__(self, target: AbstractTarget, key: PRNGKeyArray):
        self.x, self.values = examples_of(target, FRESH, key)
        self.real = isinstance(target, AbstractRealTarget)

    def accepts(self, found: Float[np.ndarray, " points"]) -> bool:
        """Whether these values at the points are the target's, up to the error that is allowed."""
        if self.real:
            return bool(np.mean((self.values - found) ** 2) <= ERROR * np.mean(self.values**2))
        return bool(np.mean(np.sign(found) != self.values) <= ERROR)

    def accepts_set(self, support: Sequence[int], sign: int = 1) -> bool:
        """Whether the target is the parity of this set, or its opposite."""
        return self.accepts(sign * np.prod(self.x[:, [*support]], axis=1))


def examples_of(target: AbstractTarget, count: int, key: PRNGKeyArray) -> tuple[np.ndarray, np.ndarray]:
    """Uniform examples; more of them from the same key are others."""
    x, y = _drawn(target, count, key)
    return np.asarray(x, float), np.asarray(y, float)


@eqx.filter_jit
def _drawn(target: AbstractTarget, count: int, key: PRNGKeyArray) -> tuple[Array, Array]:
    """One program for all targets of one shape."""
    x: Array = random_signs(key, count, target.n)
    return x, jax.vmap(target)(x)


def check_signs(target: AbstractTarget, what: str) -> None:
    """Raise for a real target, whose values are no signs."""
    if isinstance(target, AbstractRealTarget):
        raise TypeError(f"{what} learns targets of -1 and +1, got {echo(target)}. Use `LowDegreeRegression(degree)`.")
