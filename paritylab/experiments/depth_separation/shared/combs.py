"""The explicit networks of depth two that the experiments draw beside trained ones."""

from collections.abc import Iterable
from typing import Any

from matplotlib.axes import Axes

from ....networks.combs import Comb, best_comb

LOOK: dict[str, Any] = {"color": "#7a4fa3", "linewidth": 1.2, "linestyle": (0, (3, 1, 1, 1)), "zorder": 1.5}


def comb_of(pairs: int, changes: int = 1) -> Comb:
    """The best for as many ORs as ANDs, but for one; it has no error where all gates are equal."""
    return best_comb(pairs - pairs // 2, pairs // 2, changes)


def narrowest_comb(pairs: int, error: float) -> Comb:
    """The comb with the fewest sign changes that errs on at most this fraction of the hard half."""
    return next(comb for comb in (comb_of(pairs, d) for d in range(1, pairs + 1, 2)) if comb.error <= error)


def draw_over_pairs(axis: Axes, pairs: Iterable[int]) -> None:
    """The errors on the hard half of combs with one sign change and with three, over n."""
    places = sorted(set(pairs))
    for changes, mark in ((1, "|"), (3, "2")):
        here = [n for n in places if n >= changes]
        words = f"depth two, explicit comb of {'n' if changes == 1 else 'n³/6'} units"
        axis.plot(here, [comb_of(n, changes).error for n in here], marker=mark, markersize=6, label=words, **LOOK)


def draw_at_its_width(axis: Axes, pairs: int) -> None:
    """The error on the hard half of the comb with one sign change, where networks are drawn over their width."""
    comb = comb_of(pairs)
    axis.plot([comb.width], [comb.error], "*", color=LOOK["color"], markersize=9, label="explicit comb: n units")
    axis.axhline(comb.error, **{**LOOK, "linewidth": 0.8})


def draw_reach(axis: Axes, pairs: Iterable[int], error: float, most: int) -> None:
    """The n that a comb of a width reaches with at most this error, as a line over widths."""
    combs = [comb for comb in (narrowest_comb(n, error) for n in sorted(set(pairs))) if comb.width <= most]
    words = f"explicit comb: error to {error:.0%}"
    axis.plot([comb.width for comb in combs], [comb.pairs for comb in combs], marker="2", label=words, **LOOK)
