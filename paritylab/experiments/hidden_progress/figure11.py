"""Figure 11 of hidden-progress: exact Fourier gaps of ReLU neurons with random weights.

The gap is Gamma = max over S of |g_i| less max over the rest, for g = E[y x sigma'(w . x)] and the parity y of the
first k coordinates; w has independent uniform or Gaussian entries. The paper takes n = 15 and sums over all points.
It concludes that the gap is comparable to that of majority (sign weights, the dashed line) with non-negligible
probability: at least as large, in at least one neuron of ten, and with a median that falls with n like majority's.

The same at n = 101 and n = 1,001, which the paper could not compute: there g is an integral over one variable
(`gradient_of_threshold`). For large n one can say more: a coefficient at a set T is then close to majority's times the
product over T of w_i / rms(w), so that Gamma over majority's is near the product of the k - 1 largest of k sizes
|w_i| / rms(w), which does not depend on n.

Odd k is drawn nowhere: without a bias all coefficients of even degree are 0, and so is the gap.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

import paritylab as pl

from ...analysis.gradients.gaps import majority_gap, weak_gap
from ...analysis.gradients.population import gradient_by_enumeration
from ...analysis.gradients.thresholds import gradient_of_threshold
from ...figures import Axes, Figures, ink, label_edges, panels
from ...sweep import Call
from ..base import Claim, Null, Region
from ..measures import fraction, largest, median
from .shared.claims import about
from .shared.measures import slope_of_medians

NAMES = {"uniform": "uniform", "gaussian": "Gaussian"}
DISTRIBUTIONS = tuple(NAMES)
DEGREES = (2, 4)
PAPER_N, ODD = 15, 3
CHUNK = 125
"""Draws of one call."""


@dataclass(frozen=True)
class Settings:
    draws: tuple[tuple[int, int], ...]
    """n, and how many weight vectors are drawn there, for each distribution and degree."""


SETTINGS = {
    "quick": Settings(draws=((15, 1000), (101, 1000), (1001, 250))),
    "paper": Settings(draws=((15, 10_000), (101, 10_000), (1001, 5_000))),
}


def gaps_of_random_neurons(law: str, n: int, k: int, draws: int, seed: int) -> pd.DataFrame:
    """Gamma of some random neurons, over majority's, and what large n predicts for it."""
    rng = np.random.default_rng([DISTRIBUTIONS.index(law), n, k, seed])
    weights = rng.uniform(-1, 1, (draws, n)) if law == "uniform" else rng.normal(size=(draws, n))
    if n <= PAPER_N:
        gradients = gradient_by_enumeration(weights, pl.relu, pl.Uniform(pl.Parity(n, range(k)))).weight
    else:
        gradients = np.stack([gradient_of_threshold(each, range(k)).weight for each in weights])
    sizes = np.sort(np.abs(weights[:, :k]), axis=1) / np.sqrt(np.mean(weights**2, axis=1))[:, None]
    return pd.DataFrame(
        {"draw": np.arange(draws), "gap": weak_gap(gradients, range(k)), "limit": np.prod(sizes[:, 1:], axis=1)}
    )


def plan(settings: Settings) -> Iterator[Call]:
    """Some draws at a time, for each n, distribution and degree; of odd degree only at the paper's n."""
    for n, draws in settings.draws:
        degrees = (*DEGREES, ODD) if n == PAPER_N else DEGREES
        for k, law, seed in itertools.product(degrees, DISTRIBUTIONS, range(draws // CHUNK)):
            configuration = {"law": law, "n": n, "k": k, "draws": CHUNK, "seed": seed}
            yield Call(gaps_of_random_neurons, configuration, seconds=n / 1000)


def claims(settings: Settings) -> Iterator[Claim]:
    large = max(n for n, _ in settings.draws)
    cells = [(k, law) for k in DEGREES for law in DISTRIBUTIONS]
    yield from (comparable(n, k, law) for n, _ in settings.draws for k, law in cells)
    yield from (decay(tuple(n for n, _ in settings.draws), k, law) for k, law in cells)
    yield from (zero(law) for law in DISTRIBUTIONS)
    yield from (limit(large, k, law) for k, law in cells)
    yield from (positive(large, k, law) for k, law in cells)


def neurons(table: pd.DataFrame, n: int, k: int, law: str) -> pd.DataFrame:
    return table[(table.n == n) & (table.k == k) & (table.law == law)]


def of_neurons(n: int, k: int, law: str) -> Callable[..., Claim]:
    """Makes claims on neurons with random weights."""
    return about(f"n{n}/k{k}/{law}", f"{NAMES[law]} weights, n = {n}, k = {k}", lambda table: neurons(table, n, k, law))


def comparable(n: int, k: int, law: str) -> Claim:
    text = "the fraction of neurons whose gap is at least majority's is not negligible"
    large = lambda drawn: fraction(drawn.gap >= majority_gap(n, k).weak)
    return of_neurons(n, k, law)("comparable", text, Region(low=0.1), large, null=Null("no gap", 0))


def decay(sizes: tuple[int, ...], k: int, law: str) -> Claim:
    logs = np.log(sizes)
    theirs = float(np.polyfit(logs, np.log([majority_gap(n, k).weak for n in sizes]), 1)[0])
    text = f"{NAMES[law]} weights, k = {k}: the gap falls with n like majority's; the slope of its median in logarithms"
    gaps = lambda table: [neurons(table, n, k, law).gap.to_numpy(float) for n in sizes]
    measure = lambda table: slope_of_medians(logs, [np.log(each[each > 0]) for each in gaps(table)])
    region, null = Region(theirs - 0.15, theirs + 0.15), Null("a gap that does not depend on n", 0)
    return Claim(f"decay/k{k}/{law}", text, None, region, measure, theory=theirs, null=null)


def zero(law: str) -> Claim:
    text = "without a bias the gap is 0 at odd k; the largest gap"
    measure = lambda drawn: largest(drawn.gap.abs())
    null = Null("the gap at k = 2", majority_gap(PAPER_N, 2).weak)
    return of_neurons(PAPER_N, ODD, law)("zero", text, Region(0, 0), measure, theory=0.0, null=null)


def limit(n: int, k: int, law: str) -> Claim:
    text = f"the gap is majority's times the product of the {k - 1} largest relevant weights over the root mean square"
    quotient = lambda drawn: median(drawn.eval("gap / limit") / majority_gap(n, k).weak)
    region, text = Region(0.95, 1.05), f"{text}; the median quotient (ours)"
    alike = Null("majority's gap at any weights", lambda table: float(np.median(1 / neurons(table, n, k, law).limit)))
    return of_neurons(n, k, law)("limit", text, region, quotient, theory=1.0, null=alike)


def positive(n: int, k: int, law: str) -> Claim:
    text = "a relevant coordinate stands out in almost all neurons; the fraction with a positive gap (ours)"
    positive, chance = lambda drawn: fraction(drawn.gap > 0), Null("chance", k / n)
    return of_neurons(n, k, law)("positive", text, Region(low=0.9), positive, null=chance)


def plot(settings: Settings, table: pd.DataFrame) -> Figures:
    """One row for each degree, one column for each n; majority's gap as a line."""
    figure, axes = panels(len(DEGREES), len(settings.draws), width=2.9, height=2.1)
    for row, k in zip(axes, DEGREES, strict=True):
        for axis, (n, _) in zip(row, settings.draws, strict=True):
            draw(axis, table, n, k)
    axes[-1, 0].legend(fontsize=7)
    label_edges(axes, "Fourier gap $\\Gamma$", "fraction of neurons")
    figure.suptitle("Exact Fourier gaps of ReLU neurons with random weights")
    return {"figure11": figure}


def draw(axis: Axes, table: pd.DataFrame, n: int, k: int) -> None:
    """Histograms of both distributions; a few far values do not stretch the axis."""
    majority = majority_gap(n, k).weak
    shown = {law: neurons(table, n, k, law).gap.to_numpy() for law in DISTRIBUTIONS}
    low, high = np.quantile(np.concatenate([*shown.values()]), [0.002, 0.985])
    bins = np.linspace(min(low, 0.0), max(high, 1.3 * majority), 36).tolist()
    for i, (law, each) in enumerate(shown.items()):
        parts = np.full(len(each), 1 / len(each))
        axis.hist(each, bins=bins, weights=parts, histtype="step", label=f"{NAMES[law]} weights", **ink(i))
    axis.axvline(majority, color="#a01010", linestyle="--", linewidth=1, label="signs: majority")
    axis.axvline(0, color="0.6", linewidth=0.6)
    axis.set_title(f"n = {n:,}, k = {k}")
    axis.ticklabel_format(axis="x", style="sci", scilimits=(-1, 2))
