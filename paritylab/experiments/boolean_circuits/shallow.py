"""Section 6 of boolean-circuits: what depth-two networks cannot express, and how much of it shows at small sizes.

The sign-rank of a matrix is the least rank of a real matrix with its signs. Lemma 23: a depth-two network with
integer weights up to B has small rank over its two halves of inputs. Theorem 12: so has one with real weights
and a margin, after rounding its weights. A function of large sign-rank therefore needs a wide network: the paper
takes f_m, the AND over m of the OR over m^2 of x AND y, whose sign-rank is 2^Omega(m) (Theorem 11); the inner
product modulo 2 on n' bits has at least 2^(n'/2) by Forster's theorem.

At sizes where matrices fit: Lemma 23 and the rounding of Theorem 12 on random and trained networks, and on networks
that were chosen against them, which come as near to the bounds as can be; Forster's bound for the inner product;
for f_1 and f_2 the plain bound (1.41 and 1.89, which say nothing: different rows already need 2) and its weighted
form, N over the least norm of a matrix with the signs and entries of at least 1 in size, found by a convex search;
sign-ranks from above by a search for factors; and the width at which training finds the function.

What is not claimed, since no network could fail it here: the rank of a rounded network against Theorem 12's 4 N B k n'
(it is above 2^n', the number of rows, for n' <= 10), and widths against the bounds that follow from sign-ranks (both
lemmas then ask for one unit).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import paritylab as pl

from ...bounds import forster, forster_weighted, search_weights, sign_rank_found
from ...figures import INKS, panels
from ...sweep import Call, Results
from ...training.plans import Plan
from ..base import IDENTITY, Claim, Null, Region
from ..drawing import dress, shown
from ..measures import exactly, fraction, largest, share
from .shared.halves import (
    FUNCTIONS,
    edge_networks,
    integer_networks,
    matrix,
    random_networks,
    target_of,
    tight_networks,
    trained_networks,
)

TRAINED = {"f_2": 64, "inner product 4": 32}
"""Functions that networks are trained on, and the width of those that Theorem 12 is tried on."""
SHATTERED = {"f_2": 6.0}
"""Rows that columns shatter, as in `boolean-circuits/corollary13`."""
TIGHT_HALF = 8
KINDS = ("random", "trained", "edge")
"""Of networks with a margin."""


@dataclass(frozen=True)
class Settings:
    networks: int
    widths: tuple[tuple[str, tuple[int, ...]], ...]
    """Functions, and the widths at which networks are trained on them."""
    seeds: int
    steps: int
    searched: int = 200
    """Steps of the search for weights."""


SETTINGS = {
    "quick": Settings(networks=40, widths=(("f_2", (4, 16, 64)), ("inner product 4", (4, 16))), seeds=12, steps=6_000),
    "paper": Settings(
        networks=500,
        widths=(("f_2", (2, 4, 8, 16, 32, 64, 128, 256)), ("inner product 4", (2, 4, 6, 8, 12, 16, 32, 64))),
        seeds=25,
        steps=100_000,
        searched=2000,
    ),
}


def ranks(function: str, searched: int) -> dict[str, object]:
    """The sign-rank of a function from below and from above."""
    signs = matrix(function)
    weighted = forster_weighted(signs, search_weights(signs, steps=searched)).value
    found = sign_rank_found(signs, int(min(len(signs), 3 * math.ceil(weighted) + 4)), tries=2)
    above = math.nan if found is None else found.rank
    return {"plain": forster(signs).value, "weighted": weighted, "above": above, "rows": len(signs)}


def plan(settings: Settings) -> Iterator[Plan | Call]:
    for function, width in TRAINED.items():
        which = {"function": function, "width": width, "seeds": 4, "steps": 4_000}
        labels = {"part": "trained", "function": function, "width": width}
        yield Call(trained_networks, which, labels=labels, seconds=15.0)
    for function in FUNCTIONS:
        which = {"function": function, "searched": settings.searched}
        yield Call(ranks, which, labels={"part": "ranks", "function": function}, seconds=4.0)
    for half in (4, 6):
        which = {"half": half, "networks": settings.networks}
        yield Call(integer_networks, which, labels={"part": "integer"}, seconds=0.5)
        yield Call(random_networks, which, labels={"part": "random"}, seconds=0.5)
        yield Call(edge_networks, {"half": half, "units": 16}, labels={"part": "edge"}, seconds=0.5)
    tight = {"half": TIGHT_HALF, "networks": settings.networks // 4}
    yield Call(tight_networks, tight, labels={"part": "tight"}, seconds=2.0)
    how: dict[str, Any] = {"rate": 0.01, "batch": 128, "optimizer": "adam", "steps": settings.steps, "every": 100}
    for function, widths in settings.widths:
        for width in widths:
            labels = {"part": "widths", "function": function, "width": width}
            task = pl.Uniform(target_of(function))
            yield pl.plan(task, pl.MLP(width), seeds=settings.seeds, labels=labels, **how)


class Needed(NamedTuple):
    """One line of the table: what a depth-two network needs for a function."""

    function: str
    low: float
    """Sign-rank, from below and from above."""
    high: float
    some: float
    """The least width at which some seed learned, and at which more than half of them did."""
    most: float


class Data(NamedTuple):
    table: pd.DataFrame
    ranks: pd.DataFrame
    """Sign-ranks by function."""
    needed: dict[str, Needed]

    def part(self, name: str) -> pd.DataFrame:
        return self.table[self.table.part == name]

    def learned(self, function: str, width: int) -> "pd.Series[bool]":
        """Which seeds learned a function with so many units."""
        here = self.part("widths")
        return here[(here.function == function) & (here.width == width)].outcome == "learned"


def read(settings: Settings, results: Results) -> Data:
    table = results.table()
    data = Data(table, table[table.part == "ranks"].set_index("function"), {})
    data.needed.update({function: needed(data, function, widths) for function, widths in settings.widths})
    return data


def needed(data: Data, function: str, widths: tuple[int, ...]) -> Needed:
    """The width that training needs beside the sign-rank."""
    low, found = max(SHATTERED.get(function, 2.0), float(data.ranks.weighted[function])), data.ranks.above[function]
    shares = {width: data.learned(function, width).mean() for width in widths}
    least = lambda above: min((width for width, share in shares.items() if share > above), default=math.inf)
    return Needed(function, low, float(found), least(0), least(0.5))


def claims(settings: Settings) -> Iterator[Claim]:
    """Exact but for fractions of seeds."""
    yield from lemma23_claims(settings.networks)
    yield from theorem12_claims()
    yield from rank_claims()
    for function, widths in settings.widths:
        yield width_claim(function, max(widths), settings.steps)


def lemma23_claims(networks: int) -> Iterator[Claim]:
    chosen = f"{networks // 4} networks chosen against it, n' = {TIGHT_HALF}"
    statement = (
        f"a network with integer weights up to B has rank at most 4 B k n' ({chosen}, 4 B k n' < 2^n'); the largest "
        "ratio"
    )
    measure = lambda data: largest(data.part("tight").over_printed)
    null = Null("matrices of full rank", lambda data: float(data.part("tight").full_over_printed.max()))
    yield Claim("lemma23/printed", statement, "at most 1", Region(0, 1), measure, null=null)
    statement = (
        f"and at most k (B n' + 1) without an output bias, which is attained ({chosen}, and {2 * networks} random "
        "ones); the largest ratio"
    )
    measure = lambda data: largest(data.table.over_corrected.dropna())
    null = Null("random networks", lambda data: float(data.part("integer").over_corrected.max()))
    yield Claim("lemma23/corrected", statement, None, Region(0.9, 1), measure, theory=1.0, null=null)


def theorem12_claims() -> Iterator[Claim]:
    """The rounding: near equality on networks chosen against it, and needed."""
    of = f"random networks, some trained on {', '.join(TRAINED)}, and some chosen against it; all points"
    statement = (
        f"rounding weights to multiples of 1/N moves the output by at most B k (2n' + 1) / N ({of}); the largest ratio"
    )
    measure = lambda data: largest(with_margin(data, *KINDS).off)
    null = Null("random networks", lambda data: float(with_margin(data, "random").off.max()))
    yield Claim("theorem12/rounding", statement, "at most 1", Region(0.9, 1), measure, null=null)
    statement = f"with N = ceil(2 B k (2n' + 1) / margin) all signs stay ({of}); the fraction of networks"
    measure = lambda data: share(with_margin(data, *KINDS).same_signs == True)  # noqa: E712 (objects)
    coarse = lambda data: float((with_margin(data, "edge").same_coarsely == True).mean())  # noqa: E712 (objects)
    null = Null("those chosen against it with N / 4", coarse)
    yield Claim("theorem12/signs", statement, 1.0, Region(1.0, 1.0), measure, null=null)
    statement = (
        "trained networks have the signs of their function at every point, so that Theorem 12 speaks of them; the "
        "fraction of seeds"
    )
    measure = lambda data: fraction(data.part("trained").margin > 0)
    null = Null("a constant answer", 0.0)
    yield Claim("theorem12/trained/margin", statement, None, Region(low=0.5), measure, null=null)


def with_margin(data: Data, *kinds: str) -> pd.DataFrame:
    return pd.concat([data.part(kind)[lambda rows: rows.margin > 0] for kind in kinds])


def rank_claims() -> Iterator[Claim]:
    """Sign-ranks from both sides."""

    def plain(name: str, function: str, words: str, value: float) -> Claim:
        region, measure = Region(value - 1e-9, value + 1e-9), lambda data: exactly(data.ranks.plain[function])
        return Claim(name, words, None, region, measure, theory=value, null=IDENTITY)

    for function, half in FUNCTIONS.items():
        if function.startswith("inner"):
            words = f"Forster's bound of the inner product on n' = {half} bits is 2^(n'/2); the bound"
            yield plain(f"forster/{function.replace(' ', '-')}", function, words, 2 ** (half / 2))

    def says_nothing(m: int) -> Claim:
        statement = f"Forster's plain bound of f_{m} says nothing, since different rows need a rank of 2; the bound"
        measure, null = lambda data: exactly(data.ranks.plain[f"f_{m}"]), Null("different rows", 2.0)
        return Claim(f"f/m{m}/plain", statement, None, Region(1.0, 1.99), measure, null=null)

    yield from map(says_nothing, (1, 2))
    statement = "weights improve the bound of f_2 to one that says something, above 2; the weighted bound"
    measure, null = lambda data: exactly(data.ranks.weighted["f_2"]), Null("the plain bound", 1.8927)
    yield Claim("f/m2/weighted", statement, None, Region(low=2.0), measure, null=null)
    statement = (
        "bounds from below lie below ranks that a search found (all functions); the largest ratio of the weighted "
        "bound to the rank, infinite if none was found"
    )
    measure = lambda data: largest(data.ranks.weighted / data.ranks.above.fillna(0))
    null = Null("as many as there are rows", lambda data: float((data.ranks.rows / data.ranks.above).max()))
    yield Claim("order", statement, None, Region(0, 1), measure, theory="at most 1", null=null)


def width_claim(function: str, widest: int, steps: int) -> Claim:
    """Widths by training."""
    statement = f"training finds {function}; the fraction of seeds that do with {widest} units in {steps:,} steps"
    measure, null = lambda data: fraction(data.learned(function, widest)), Null("a constant answer", 0.0)
    return Claim(f"width/{function.replace(' ', '-')}", statement, None, Region(low=0.5), measure, null=null)


def plot(settings: Settings, data: Data) -> dict[str, Figure]:
    """Sign-ranks from both sides, the fraction of seeds that learn over width, and the table of widths."""
    figure, axes = panels(1, 3, width=3.9, height=3.2)
    draw_ranks(axes[0, 0], data.ranks.loc[list(FUNCTIONS)])
    draw_widths(axes[0, 1], data, settings)
    draw_table(axes[0, 2], [*data.needed.values()])
    return shown("shallow", figure, "Depth-two networks and sign-rank")


def draw_ranks(axis: Axes, known: pd.DataFrame) -> None:
    places = np.arange(len(FUNCTIONS))
    for place, (low, high) in enumerate(zip(known.weighted, known.above, strict=True)):
        axis.plot([place, place], [low, high], color="0.75", linewidth=5, zorder=1)
    axis.plot(places, known.above, "s", color=INKS[2], label="at most: factors found")
    axis.plot(places, known.weighted, "^", color=INKS[0], label="at least: weighted Forster")
    axis.plot(places, known.plain, "v", color=INKS[1], label="at least: plain Forster")
    names = [
        f"$f_{name[2:]}$" if name.startswith("f") else f"inner\nproduct,\n{name.split()[-1]} bits" for name in FUNCTIONS
    ]
    axis.set_xticks(places, names, fontsize=8)
    title = "sign-rank: between bound and search"
    dress(axis, ylabel="sign-rank", ylim=(0, None), title=title, legend="upper left")


def draw_widths(axis: Axes, data: Data, settings: Settings) -> None:
    for i, (function, widths) in enumerate(settings.widths):
        shares = [data.learned(function, width).mean() for width in widths]
        label = function.replace("f_2", "$f_2$")
        axis.plot(widths, shares, marker="os"[i], color=INKS[i], label=label, linestyle=("-", "--")[i])
    every = sorted({width for _, widths in settings.widths for width in widths})
    axis.set(xscale="log", xlabel="units of a depth-two ReLU network", ylabel="fraction of seeds that learn it")
    axis.set_xticks(every, [str(width) for width in every], fontsize=8)
    axis.minorticks_off()
    title = f"trained with Adam, {settings.steps:,} steps"
    dress(axis, ylim=(-0.05, 1.05), title=title, legend="upper left", size=8)


def draw_table(axis: Axes, rows: list[Needed]) -> None:
    """The width that a depth-two network needs, found by training, beside the sign-rank."""
    printed = {"f_2": r"$\mathbf{f_2}$", "inner product 4": "inner\nproduct, 4"}
    number = lambda value: "none" if math.isinf(value) else f"{value:.3g}"
    lines = {
        "sign-rank at least": [number(row.low) for row in rows],
        "sign-rank at most": [number(row.high) for row in rows],
        "least width trained:\nsome seed learns": [number(row.some) for row in rows],
        "most seeds learn": [number(row.most) for row in rows],
    }
    axis.set_axis_off()
    axis.set_title("sign-rank, and width found")
    for place, row in zip((0.62, 0.9), rows, strict=False):
        axis.text(place, 0.95, printed[row.function], ha="center", va="center", fontsize=8, weight="bold")
    for line, (words, values) in enumerate(lines.items()):
        height = 0.82 - 0.15 * line
        axis.text(0.0, height, words, va="center", fontsize=8)
        for place, value in zip((0.62, 0.9), values, strict=False):
            axis.text(place, height, value, ha="center", va="center", fontsize=9)
