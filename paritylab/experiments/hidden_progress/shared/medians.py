"""Median convergence times over n: the runs, exponents and curves of figures 1 (right), 2 (right) and 10.

Batches of 32, hinge loss, uniform initialization, a constant rate, a random k-parity for each run, and the time until
all validation points are classified without a mistake, validated every 10 steps. The paper has 1,000 runs per point
and 100,000 steps; a curve halts where more than half of the runs do not learn.

D.2 of the paper validates on 8,192 points, and its larger probes on 128; with 1,000 runs per point these figures are
such probes, and figure 7 was validated so. We take 128, and have 8,192 as the other reading.

Exponents are fitted to the medians at n <= 30. "n to the Theta(k)" is taken to be an exponent of at least k / 10, and
below that of exhaustive search, whose time C(n, k) / 2 has one of 2.07, 3.20, 4.42 at k = 2, 3, 4 between 10 and 30.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float
from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter, NullLocator, ScalarFormatter

import paritylab as pl

from ....figures import Axes, ink
from ....statistics import median_interval, power_law
from ....sweep import Results
from ...base import Claim, Measured, Null, Region
from ...measures import UNKNOWN, bootstrap
from .grid import random_parities

BATCH = 32
SMALL, LARGE = 30, 60
"""Up to the first, n counts as small, and from the second on as large: exponents are compared between the two."""
RESAMPLES = 400
HARD = 6
"""From this degree on most runs never learn, and fewer say so."""
LEAST_EXPONENT = 0.1
"""Times k: what "n to the Theta(k)" has at least."""
EMBEDDING, ATTENTION, HEADS, TRANSFORMER_LANES = 1024, 8, 128, 16
MARKERS = "osD^vPX"

Times = Float[np.ndarray, "seeds sizes"]


class Curves(NamedTuple):
    """The curves of a panel: a way to train, and the sizes and degrees of its parities."""

    name: str
    setting: str
    rate: float
    sizes: tuple[int, ...]
    degrees: tuple[int, ...]
    seeds: int
    steps: int
    validation: int = 128
    hard_seeds: int | None = None
    """Of degrees from `HARD` on, if they have fewer."""

    def runs(self, k: int) -> int:
        """How many there are of a degree."""
        return self.hard_seeds if k >= HARD and self.hard_seeds else self.seeds


Medians = dict[tuple[Curves, int], Times]
"""The time of each seed (row) at each size, by curves and degree; infinite where a run did not learn."""


def relu_100(
    sizes: tuple[int, ...], degrees: tuple[int, ...], seeds: int, steps: int, hard_seeds: int | None = None
) -> Curves:
    """The network of figures 1 and 2, right."""
    return Curves("ii", "ii", 1.0, sizes, degrees, seeds, steps, hard_seeds=hard_seeds)


def plan_curves(panels: Iterable[Curves]) -> Iterator[pl.Plan]:
    """One plan per point, once where panels share it.

    The degrees of one n share a compiled program where the network's shape does not depend on the degree.
    """
    planned: dict[tuple[Any, ...], int] = {}
    for curves in panels:
        for n, k in itertools.product(curves.sizes, curves.degrees):
            point = (curves.setting, curves.rate, n, k, curves.validation)
            if planned.get(point, 0) < curves.runs(k):
                planned[point] = curves.runs(k)
                yield plan_point(curves, n, k)


def plan_point(curves: Curves, n: int, k: int) -> pl.Plan:
    labels = {"setting": curves.setting, "k": k}
    how: dict[str, Any] = {"rate": curves.rate, "batch": BATCH, "validation": curves.validation, "labels": labels}
    how |= {"seeds": curves.runs(k), "steps": curves.steps}
    if curves.setting != "*iii":
        return random_parities(curves.setting, n, k, **how)
    transformer = pl.Transformer(EMBEDDING, ATTENTION, HEADS)
    task = pl.RandomTask(pl.random_parity, (n, k))
    return pl.plan(task, transformer, optimizer="adam", lanes=TRANSFORMER_LANES, **how)


def read_curves(panels: Iterable[Curves], table: pd.DataFrame) -> Medians:
    return {(curves, k): times_of(table, curves, k) for curves in panels for k in curves.degrees}


def plan(settings: Any) -> Iterator[pl.Plan]:
    """Of a figure with one panel."""
    return plan_curves([settings.curves])


def read(settings: Any, results: Results) -> Medians:
    return read_curves([settings.curves], results.table())


def times_of(table: pd.DataFrame, curves: Curves, k: int) -> Times:
    """(Others may share its runs.)"""
    mine = (table.setting == curves.setting) & (table.rate == curves.rate) & (table.k == k)
    rows = table[mine & (table.validation == curves.validation) & (table.seed < curves.runs(k))]
    wide = rows.pivot(index="seed", columns="n", values="converged_at").sort_index()
    return wide[list(curves.sizes)].to_numpy(float, na_value=np.inf)


def known(times: Times) -> int:
    """How many sizes a curve has before it halts: where the median, and its interval, end before the last step."""
    ends = [median_interval(column)[1] for column in times.T]
    return next((place for place, end in enumerate(ends) if end == np.inf), len(ends))


def search_exponent(k: int) -> float:
    """That of exhaustive search between n = 10 and 30, whose time is half of all C(n, k) supports.

    >>> round(search_exponent(3), 2)
    3.21
    """
    return math.log(math.comb(30, k) / math.comb(10, k), 3)


def power_claims(
    curves: Curves,
    degrees: Sequence[int],
    prefix: str = "",
    words: str = "",
    explained: Mapping[str, tuple[str, tuple[str, ...]]] = MappingProxyType({}),
) -> Iterator[Claim]:
    """For a way to train: the time is a power of n, and a larger one for larger k.

    `explained` has, by name, why a claim fails and the claims that test it.
    """
    for k in degrees:
        text = f"k = {k}: the time is n to the Theta(k), and below exhaustive search's; the exponent of the medians"
        name, statement = f"{prefix}k{k}/exponent", f"{words}, {text}" if words else text
        why, by = explained.get(name, ("", ()))
        region, null = Region(LEAST_EXPONENT * k, search_exponent(k)), Null("a time that does not depend on n", 0)
        measure = partial(exponent_of, curves, k)
        yield Claim(name, statement, None, region, measure, null=null, explanation=why, tested_by=by)
    for k in degrees[1:]:
        text = f"the exponent grows with k; that of k = {k} less that of k = {k - 1}"
        name, statement = f"{prefix}k{k}/steeper", f"{words}: {text}" if words else text
        why, by = explained.get(name, ("", ()))
        region, null = Region(low=LEAST_EXPONENT), Null("one exponent for all degrees", 0)
        measure = partial(growth, curves, k)
        yield Claim(name, statement, None, region, measure, null=null, explanation=why, tested_by=by)


def exponent(sizes: Any, times: Times) -> float:
    """alpha in (median over seeds) = constant * n**alpha."""
    return power_law(np.asarray(sizes, float), np.median(times, axis=0)).exponent


def bootstrap_of_medians(
    times: np.ndarray, value: Callable[[np.ndarray], float], resamples: int = RESAMPLES
) -> Measured:
    """What follows from medians over runs (rows), with a bootstrap over runs.

    Where most runs of a column did not learn in time its median is beyond the step limit, and not known: of such a
    resample the value counts as infinite.
    """
    reached = lambda sample: bool(np.isfinite(np.median(sample, axis=0)).all())
    return bootstrap(times, lambda sample: value(sample) if reached(sample) else math.inf, resamples)


def exponent_of(curves: Curves, k: int, data: Medians) -> Measured:
    """The exponent over the small sizes, and a bootstrap over seeds."""
    times = data[curves, k]
    count = min(known(times), sum(n <= SMALL for n in curves.sizes))
    if count < 2:
        return UNKNOWN
    return bootstrap_of_medians(times[:, :count], lambda sample: exponent(curves.sizes[:count], sample))


def growth(curves: Curves, k: int, data: Medians) -> Measured:
    """How much larger the exponent is than that of k - 1, over the small sizes where both curves are known."""
    lower, higher = data[curves, k - 1], data[curves, k]
    count = min(known(lower), known(higher), sum(n <= SMALL for n in curves.sizes))
    if count < 2:
        return UNKNOWN
    runs = min(len(lower), len(higher))
    both = np.hstack([lower[:runs, :count], higher[:runs, :count]])
    sizes = curves.sizes[:count]
    value = lambda sample: exponent(sizes, sample[:, count:]) - exponent(sizes, sample[:, :count])
    return bootstrap_of_medians(both, value)


def degradation(curves: Curves, k: int, data: Medians) -> Measured:
    """How much larger the exponent is over the large sizes than over the small ones."""
    times = data[curves, k]
    sizes = np.array(curves.sizes[: known(times)])
    small, large = np.flatnonzero(sizes <= SMALL), np.flatnonzero(sizes >= LARGE)
    if len(small) < 2 or len(large) < 2:
        return UNKNOWN
    value = lambda sample: exponent(sizes[large], sample[:, large]) - exponent(sizes[small], sample[:, small])
    return bootstrap_of_medians(times[:, : len(sizes)], value)


def draw_medians(axis: Axes, curves: Curves, data: Medians, ticks: tuple[int, ...]) -> None:
    """Medians over n, one line per degree, with 95% intervals; a curve ends where more than half do not learn."""
    for place, k in enumerate(curves.degrees):
        times = data[curves, k]
        medians = np.median(times, axis=0)
        shown = int(np.argmax(np.append(medians, np.inf) == np.inf))
        ends = np.array([median_interval(column) for column in times[:, :shown].T]).reshape(-1, 2).T
        bars = np.clip(np.abs(ends - medians[:shown]), 0, curves.steps)
        style: dict[str, Any] = {
            "marker": MARKERS[place % len(MARKERS)],
            "markersize": 3.5,
            "linewidth": 1,
            "elinewidth": 0.8,
        }
        axis.errorbar(curves.sizes[:shown], medians[:shown], bars, label=f"k = {k}", **style, **ink(place))
    axis.set(xscale="log", yscale="log", xlabel="n (bits)")
    axis.xaxis.set_major_locator(FixedLocator(list(ticks)))
    axis.xaxis.set_major_formatter(ScalarFormatter())
    axis.xaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_major_locator(LogLocator(10))
    axis.yaxis.set_minor_formatter(NullFormatter())
