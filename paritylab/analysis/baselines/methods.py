"""Four learners that know the class: elimination, search over supports, Goldreich and Levin, low-degree regression."""

import math
import time
from dataclasses import dataclass

import jax.random as jr
import numpy as np
from jaxtyping import Float, Int, PRNGKeyArray, UInt64

from ...demands import check_number, check_whole
from ...targets import AbstractTarget
from ..elimination import parity_by_elimination
from ..fourier.heavy import heavy_coefficients, queries
from .needed import AbstractBaseline, Attempt, Judge, check_signs, examples_of

WORD = 64
"""Examples that decide between supports: a wrong one of 10**7 agrees with all of them with probability 1e-12."""
MOST_SETS = 2 * 10**7
"""Supports of a search, eight bytes each."""
MOST_MONOMIALS = 4000
"""Columns of a regression, which takes their third power of operations."""
RIDGE = 1e-6


@dataclass(frozen=True)
class Elimination(AbstractBaseline):
    """Gaussian elimination over GF(2): n examples and a few, for any parity without noise."""

    @property
    def name(self) -> str:
        return "Gaussian elimination"

    def __call__(self, target: AbstractTarget, key: PRNGKeyArray) -> Attempt:
        check_signs(target, self.name)
        draw_key, fresh_key = jr.split(key)
        x, y = examples_of(target, target.n + WORD, draw_key)  # so many do not suffice with probability 2**-64
        start = time.perf_counter()
        found = parity_by_elimination(x, y)
        seconds = time.perf_counter() - start
        learned = found.support is not None and Judge(target, fresh_key).accepts_set(found.support)
        return Attempt(learned, found.examples, 0, seconds)


@dataclass(frozen=True)
class SupportSearch(AbstractBaseline):
    """All supports of k coordinates, until one alone agrees with the examples: some log2 C(n, k) of them, n**k time."""

    k: int

    def __post_init__(self) -> None:
        check_whole("k", self.k, 1)

    @property
    def name(self) -> str:
        return f"search over {self.k} coordinates"

    def __call__(self, target: AbstractTarget, key: PRNGKeyArray) -> Attempt:
        check_signs(target, self.name)
        check_whole("k", self.k, 1, target.n)
        if (count := math.comb(target.n, self.k)) > MOST_SETS:
            raise ValueError(
                f"There are {count:,} supports of k={self.k} of n={target.n} coordinates, and a search goes through up "
                f"to {MOST_SETS:,}. Lower n or k."
            )
        draw_key, fresh_key = jr.split(key)
        x, y = examples_of(target, WORD, draw_key)
        start = time.perf_counter()
        # Bit e of a word belongs to example e: of a coordinate, of a support, and where a support is wrong.
        powers = np.uint64(1) << np.arange(WORD, dtype=np.uint64)
        words = ((x < 0).T * powers[None]).sum(axis=1, dtype=np.uint64)
        wrong = _xor_of_sets(words, self.k) ^ ((y < 0) * powers).sum(dtype=np.uint64)
        right = np.flatnonzero(wrong == 0)
        # Its lowest bit is the example that refutes a support.
        refuted = wrong & (~wrong + np.uint64(1))
        used = int(refuted.max()).bit_length()
        seconds = time.perf_counter() - start
        learned = len(right) == 1
        if learned:
            learned = Judge(target, fresh_key).accepts_set(_set_of_rank(target.n, self.k, int(right[0])))
        return Attempt(learned, used, 0, seconds)


def _xor_of_sets(words: UInt64[np.ndarray, " n"], k: int) -> UInt64[np.ndarray, " sets"]:
    """The exclusive or over every set of k, in lexicographic order."""
    n = len(words)
    # `tails[i]`: all sets of so many whose first element is at least i.
    tails = [words[i:] for i in range(n + 1)]
    for _ in range(k - 1):
        heads = [words[i] ^ tails[i + 1] for i in range(n)]
        longer: list[np.ndarray] = [words[:0]] * (n + 1)
        for i in range(n - 1, -1, -1):
            longer[i] = np.concatenate([heads[i], longer[i + 1]])
        tails = longer
    return tails[0]


def _set_of_rank(n: int, k: int, rank: int) -> tuple[int, ...]:
    """The set of k of n coordinates with this place in lexicographic order.

    >>> _set_of_rank(5, 2, 0), _set_of_rank(5, 2, 4), _set_of_rank(5, 2, 9)
    ((0, 1), (1, 2), (3, 4))
    """
    found, first = [], 0
    for left in range(k, 0, -1):
        while rank >= (count := math.comb(n - first - 1, left - 1)):
            rank -= count
            first += 1
        found.append(first)
        first += 1
    return tuple(found)


@dataclass(frozen=True)
class GoldreichLevin(AbstractBaseline):
    """The largest Fourier coefficient from queries, of any function that has one above the threshold.

    Its seconds hold the compilation of its queries.
    """

    threshold: int | float = 0.9
    confidence: int | float = 0.99

    def __post_init__(self) -> None:
        check_number("threshold", self.threshold, 1e-3, 1)

    @property
    def name(self) -> str:
        return "Goldreich-Levin (queries)"

    def __call__(self, target: AbstractTarget, key: PRNGKeyArray) -> Attempt:
        check_signs(target, self.name)
        search_key, fresh_key = jr.split(key)
        asked = queries(target.n, self.threshold, self.confidence)
        start = time.perf_counter()
        found = heavy_coefficients(target, target.n, self.threshold, key=search_key, confidence=self.confidence)
        seconds = time.perf_counter() - start
        learned = bool(found) and Judge(target, fresh_key).accepts_set(
            found[0].subset, 1 if found[0].coefficient > 0 else -1
        )
        return Attempt(learned, 0, asked, seconds)


@dataclass(frozen=True)
class LowDegreeRegression(AbstractBaseline):
    """Least squares on all monomials up to a degree, with the smallest sample that suffices.

    As many examples as monomials settle any function of that degree, and for a sign a few less do. The sample is
    found by bisection over beginnings of one; the seconds are those of the fit on it.
    """

    degree: int

    def __post_init__(self) -> None:
        check_whole("degree", self.degree, 0)

    @property
    def name(self) -> str:
        return f"regression of degree {self.degree}"

    def __call__(self, target: AbstractTarget, key: PRNGKeyArray) -> Attempt:
        count = monomial_count(target.n, self.degree)
        if count > MOST_MONOMIALS:
            raise ValueError(
                f"There are {count:,} monomials of degree {self.degree} of n={target.n} coordinates, and a regression "
                f"takes up to {MOST_MONOMIALS:,}; it needs about as many examples. Lower n or the degree."
            )
        draw_key, fresh_key = jr.split(key)
        x, y = examples_of(target, 2 * count + WORD, draw_key)
        columns, judge = _monomials(x, self.degree), Judge(target, fresh_key)
        fresh = _monomials(judge.x, self.degree)

        def attempt(size: int) -> tuple[bool, float]:
            start = time.perf_counter()
            weights = _least_squares(columns[:size], y[:size])
            seconds = time.perf_counter() - start
            return judge.accepts(fresh @ weights), seconds

        low, high = 0, len(columns)
        learned, seconds = attempt(high)
        while learned and high - low > 1:
            middle = (low + high) // 2
            enough, took = attempt(middle)
            if enough:
                high, seconds = middle, took
            else:
                low = middle
        return Attempt(learned, high, 0, seconds)


def monomial_count(n: int, degree: int) -> int:
    """The number of sets of at most so many of n coordinates, about what a regression of that degree needs.

    >>> monomial_count(30, 2)
    466
    """
    return sum(math.comb(n, size) for size in range(min(degree, n) + 1))


def _monomials(x: Float[np.ndarray, "points n"], degree: int) -> Float[np.ndarray, "points monomials"]:
    """All products of up to `degree` coordinates: each of one more is one of those before times a later coordinate."""
    n = x.shape[1]
    columns, last = [np.ones((len(x), 1))], np.array([-1])
    for _ in range(min(degree, n)):
        old, new = _extensions(last, n)
        columns.append(columns[-1][:, old] * x[:, new])
        last = new
    return np.concatenate(columns, axis=1)


def _extensions(
    last: Int[np.ndarray, " sets"], n: int
) -> tuple[Int[np.ndarray, " longer"], Int[np.ndarray, " longer"]]:
    """Each set with every coordinate after its last one."""
    old = np.repeat(np.arange(len(last)), n - 1 - last)
    new = np.concatenate([np.arange(each + 1, n) for each in last]) if len(last) else np.zeros(0, int)
    return old, new.astype(int)


def _least_squares(
    columns: Float[np.ndarray, "points monomials"], values: Float[np.ndarray, " points"]
) -> Float[np.ndarray, " monomials"]:
    """By the smaller of the two Gram matrices; the shortest solution where there are several."""
    points, monomials = columns.shape
    if points < monomials:
        gram = columns @ columns.T
        return np.asarray(columns.T @ np.linalg.solve(gram + RIDGE * np.eye(points), values))
    gram = columns.T @ columns
    return np.asarray(np.linalg.solve(gram + RIDGE * np.eye(monomials), columns.T @ values))
