"""Lemma 3 of symmetry: the margin at the start of training is of order 1/sqrt(n) at least, exactly.

The network's first layer starts with all weights 1 and biases 1, 0, -1, ..., -(n+1), which maps the
cube to n + 1 points, one per number of ones. The lemma says that every symmetric function has a margin
of at least a constant over sqrt(n) there, and its proof gives a separator with explicit weights.

Here the margin is computed exactly, as a quadratic program whose solution carries a proof (a gap
between two sides of the program). Among all symmetric functions the parity has the least margin, and
that is 1 / (2 sqrt(4n - 17/6)) in closed form: the lemma's rate is tight, its constant is 1/4, and the
paper's separator (with the two units left out that are 0 everywhere) is all but optimal.
The lemma's proof says that the weights are in [-1, 1]; for ReLU units they are in [-2, 2].
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from ...analysis import explicit_separator, maximal_margin, parity_margin, symmetric_embedding
from ...figures import INKS, ink, panels
from ...statistics import power_law
from ...sweep import Call
from ..base import IDENTITY, Claim, Null, Region
from ..drawing import shown
from ..measures import exactly, largest, least

PROVEN = 1e-9
"""How far the two sides of a margin's proof, and a margin and its closed form, may be apart, relative to it."""


@dataclass(frozen=True)
class Settings:
    largest: int
    functions: int
    """How many random symmetric functions there are for each n, beside parity."""
    smallest: int = 5


SETTINGS = {"quick": Settings(largest=40, functions=20), "paper": Settings(largest=100, functions=200)}


def margins(n: int, functions: int) -> list[dict[str, object]]:
    """The exact margin and that of the explicit separator, of parity and of other symmetric functions at random."""
    points, parity = symmetric_embedding(n), 1 - 2 * (np.arange(n + 1) % 2)
    drawn = np.random.default_rng(n).choice([-1, 1], (functions, n + 1))
    random = drawn[np.abs(drawn @ parity) <= n]  # neither parity nor its negative
    rows: list[dict[str, object]] = []
    for function, values in [("parity", parity), *(("random", each) for each in random)]:
        found = maximal_margin(points, values)
        explicit = 0.5 / float(np.linalg.norm(explicit_separator(values)))
        rows.append({"function": function, "margin": found.margin, "gap": found.gap, "explicit": explicit})
    return rows


def plan(settings: Settings) -> Iterator[Call]:
    """One call per n."""
    for n in range(settings.smallest, settings.largest + 1):
        yield Call(margins, {"n": n, "functions": settings.functions}, seconds=0.1)


def claims(settings: Settings) -> Iterator[Claim]:
    """The lemma, that it is tight, and that its separator is all but the best.

    No chance enters but the choice of random functions, which is fixed.
    """
    every = f"n = {settings.smallest} to {settings.largest}"
    middle = (settings.smallest + settings.largest) / 2
    to_parity = lambda table: table.margin / table.n.map(parity_margin)
    statement = (
        f"every symmetric function has a margin of at least a constant over sqrt(n) ({every}; parity and "
        f"{settings.functions} random functions each); the least margin * sqrt(n)"
    )
    scaled = lambda table: least(table.margin * np.sqrt(table.n))
    first = settings.smallest
    inverse = Null("a margin of order 1/n", parity_margin(first) * first / settings.largest**0.5)
    yield Claim("lower", statement, "a constant", Region(low=0.25), scaled, null=inverse)
    statement = (
        f"the margin of parity falls as n^(-1/2), no faster and no slower; slope of log margin over log n in the "
        f"upper half of {every}"
    )
    upper = lambda table: parity_of(table)[lambda rows: rows.n >= middle]
    null = Null("a margin of order 1/n", -1.0)
    yield Claim("exponent", statement, -0.5, Region(-0.53, -0.5), lambda table: exactly(slope(upper(table))), null=null)
    statement = f"the margin of parity is 1 / (2 sqrt(4n - 17/6)) (ours, {every}); the largest relative deviation"
    deviation = lambda table: largest((to_parity(parity_of(table)) - 1).abs())
    yield Claim("closed-form", statement, None, Region(high=PROVEN), deviation, null=IDENTITY)
    words = f"no other function has a margin as small as parity's ({every}, random functions); the least ratio to it"
    others = lambda table: least(to_parity(table)[table.function == "random"])
    yield Claim("least", words, None, Region(low=1.0), others, null=Null("a function that cannot be separated", 0.0))
    statement = (
        f"the explicit separator of Lemmas 2 and 3 is near the best for parity ({every}); the largest ratio of the "
        "exact margin to its margin"
    )
    ratio = lambda table: largest(parity_of(table).margin / parity_of(table).explicit)
    yield Claim(
        "separator", statement, None, Region(1.0, 1.01), ratio, null=Null("a vector that separates nothing", np.inf)
    )
    statement = "every margin comes with a proof; the largest gap between its two sides, relative to the margin"
    gap = lambda table: largest((table.gap / table.margin).abs())
    yield Claim("proof", statement, None, Region(high=PROVEN), gap, null=IDENTITY)


def parity_of(table: pd.DataFrame) -> pd.DataFrame:
    return table[table.function == "parity"].sort_values("n")


def slope(rows: pd.DataFrame) -> float:
    """The exponent of the margin as a power of n."""
    return power_law(rows.n.to_numpy(float), rows.margin.to_numpy(float)).exponent


def plot(settings: Settings, table: pd.DataFrame) -> dict[str, Figure]:
    """Margins over n, and the same times sqrt(n)."""
    figure, axes = panels(1, 2, width=3.6, height=2.8)
    draw(axes[0, 0], table, np.ones_like)
    draw(axes[0, 1], table, np.sqrt)
    axes[0, 0].set(xscale="log", yscale="log", ylabel="margin")
    axes[0, 0].xaxis.set_major_locator(FixedLocator([5, 10, 20, 40, 80]))
    axes[0, 0].yaxis.set_major_locator(FixedLocator([0.02, 0.05, 0.1, 0.2]))
    for each in (axes[0, 0].xaxis, axes[0, 0].yaxis):
        each.set_major_formatter("{x:g}")
        each.set_minor_locator(NullLocator())
    axes[0, 1].set(ylabel="margin · √n", ylim=(0, 0.6))
    axes[0, 1].legend(loc="lower right", fontsize=7)
    return shown("margin", figure, "Margins of symmetric functions at the start of training")


def draw(axis: Axes, table: pd.DataFrame, scale: Callable[[np.ndarray], np.ndarray]) -> None:
    """Margins times a function of n."""
    parity, random = parity_of(table), table[table.function == "random"].groupby("n").margin
    n = parity.n.to_numpy()
    times = scale(n.astype(float))
    axis.plot(n, random.min() * times, label="the least of the random functions", **ink(2))
    axis.plot(n, parity.explicit * times, label="parity, the paper's separator", **ink(1))
    axis.plot(n, parity.margin * times, ".", color=INKS[0], markersize=4, label="parity, exact")
    axis.plot(n, times / (4 * np.sqrt(n)), label="1 / (4 √n)", **ink(5))
    axis.set_xlabel("n")
