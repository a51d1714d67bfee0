"""The frontier of depth two: the largest n that it learns, against its width and against the steps it is given.

ReLU networks with one hidden layer on D (half E1, half uniform), Adam with rates that fall linearly to 0. A size
n is learned if the best of the rates ends with an error of at most 10% on the hard half. Against the width with all
steps, and against the steps with the largest width, the frontier in n moves with the logarithm of the effort: a
step in n costs a factor of it. Depth three, layerwise, learns every n that was tried (`depth-separation/layerwise`).

What a run tells is that the frontier lies between two sizes of the grid: from the largest n that is learned up to the
next one that was tried, which is not; below the smallest that was tried where none is learned, from the largest on
where all are. The line through the frontier is the one that these bounds make most likely (`censored_fits`).
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import paritylab as pl

from ...censored_fits import CensoredLine, censored_line
from ...figures import INKS, panels
from ...sweep import Results
from ...training.plans import Plan
from ..base import Claim, Measured, Null, Region
from ..drawing import shown
from ..measures import largest
from .shared.baselines import RandomSeparation, falling, last_records
from .shared.combs import draw_reach

LEARNED = 0.1


@dataclass(frozen=True)
class Settings:
    pairs: tuple[int, ...]
    widths: tuple[int, ...]
    steps: tuple[int, ...]
    rates: tuple[float, ...]
    batch: int
    points: int = 16_384

    @property
    def efforts(self) -> list[tuple[int, int]]:
        """Widths with all steps, then steps with the largest width."""
        most, widest = max(self.steps), max(self.widths)
        longest = [(width, most) for width in sorted(self.widths)]
        return longest + [(widest, steps) for steps in sorted(self.steps) if steps < most]


SETTINGS = {
    "quick": Settings(pairs=(5, 7), widths=(128,), steps=(1500,), rates=(0.01,), batch=128),
    "paper": Settings(
        pairs=(5, 7, 9, 11, 13, 15),
        widths=(16, 64, 256, 1024, 8192),
        steps=(200, 2_000, 10_000, 60_000),
        rates=(0.0003, 0.001, 0.003),
        batch=2048,
    ),
}


def plan(settings: Settings) -> Iterator[Plan]:
    """A schedule belongs to the shape of a run, so that each effort is compiled on its own."""
    rates = list(settings.rates)
    how: dict[str, Any] = {"rate": rates, "batch": settings.batch, "seeds": 1, "lanes": len(rates)}
    for pairs in reversed(settings.pairs):
        for width, steps in settings.efforts:
            how |= {"every": steps // 2, "labels": {"pairs": pairs, "width": width, "given_steps": steps}}
            yield falling(RandomSeparation(pairs), pl.MLP(width), steps=steps, points=settings.points, **how)


def best_errors(results: Results) -> pd.DataFrame:
    """The error on the hard half at the best rate, for each n, width and number of steps."""
    ends = last_records(results.curves())
    return ends.groupby(["pairs", "width", "given_steps"], as_index=False).hard_error.min()


def read(settings: Settings, results: Results) -> pd.DataFrame:
    """The bounds of the frontier for each width and number of steps: the largest n learned, and the next one tried."""
    best, rows = best_errors(results), []
    for width, steps in settings.efforts:
        here = best[(best.width == width) & (best.given_steps == steps)].set_index("pairs").hard_error
        learned = itertools.takewhile(lambda pairs, here=here: here[pairs] <= LEARNED, sorted(settings.pairs))  # type: ignore[misc]
        sizes = [-math.inf, *sorted(settings.pairs), math.inf]
        place = len([*learned])
        rows.append({"width": width, "steps": steps, "reached": sizes[place], "missed": sizes[place + 1]})
    return pd.DataFrame(rows)


def along(settings: Settings, found: pd.DataFrame, effort: str) -> pd.DataFrame:
    """The frontier along one effort, the other at its most."""
    other, most = ("steps", max(settings.steps)) if effort == "width" else ("width", max(settings.widths))
    return found[found[other] == most].sort_values(effort)


def through(rows: pd.DataFrame, effort: str) -> CensoredLine:
    """The frontier as a line in the decimal logarithm of an effort."""
    return censored_line(np.log10(rows[effort].to_numpy(float)), rows.reached, rows.missed)


def per_decade(rows: pd.DataFrame, effort: str) -> Measured:
    """How much further in n ten times the effort goes."""
    line = through(rows, effort)
    return Measured(line.slope, line.interval)


def fitted(settings: Settings) -> list[str]:
    """The efforts along which there are enough points for a fit: two always lie on a line."""
    return [name for name, values in (("width", settings.widths), ("steps", settings.steps)) if len(values) > 2]


def claims(settings: Settings) -> Iterator[Claim]:
    """What was reached is a fact of these runs; the growth is a fit through it."""

    def grows(effort: str) -> Claim:
        statement = (
            f"the largest n that depth two learns grows with the logarithm of its {effort}; further in n for ten times "
            "the effort"
        )
        measure = lambda found: per_decade(along(settings, found, effort), effort)
        return Claim(f"{effort}/law", statement, None, Region(0.5, 8), measure, null=Null("the same n", 0.0))

    yield from map(grows, fitted(settings))
    statement = (
        f"depth two with {max(settings.widths):,} units and {max(settings.steps):,} steps does not learn the "
        f"largest n that was tried, {max(settings.pairs)}; the largest n that it learns"
    )
    measure = lambda found: largest(found.reached)
    null = Null("all that was tried", float(max(settings.pairs)))
    yield Claim("end", statement, None, Region(high=float(sorted(settings.pairs)[-2])), measure, null=null)


def plot(settings: Settings, found: pd.DataFrame) -> dict[str, Figure]:
    """The largest n over width and over steps, and depth three as the arrow that leaves the picture."""
    figure, axes = panels(1, 2, width=3.9, height=3.2)
    names = {"width": "hidden units", "steps": "Adam steps"}
    bottom, top = min(settings.pairs) - 3, max(settings.pairs) + 4
    for axis, (effort, words) in zip(axes[0], names.items(), strict=True):
        rows = along(settings, found, effort)
        low, high = (rows[name].clip(bottom, top) for name in ("reached", "missed"))
        axis.vlines(rows[effort], low, high, color=INKS[0], linewidth=1.2, label="depth two: between learned and not")
        axis.plot(rows[effort], rows.reached, "^", color=INKS[0], label="largest n learned")
        axis.plot(rows[effort], rows.missed, "v", color=INKS[0], markerfacecolor="white", label="next n, not learned")
        if effort in fitted(settings):
            line = through(rows, effort)
            places = line.level + line.slope * np.log10(rows[effort].to_numpy(float))
            axis.plot(rows[effort], places, color=INKS[1], linestyle="--", label="most likely line")
            found_line = "{:.1f} pairs for ten times\n({:.1f} to {:.1f})".format(line.slope, *line.interval)
            axis.text(0.97, 0.06, found_line, ha="right", fontsize=8, transform=axis.transAxes)
        if effort == "width":
            draw_reach(axis, range(min(settings.pairs), top, 2), LEARNED, max(settings.widths))
        deep = "depth three, layerwise: every n tried"
        axis.axhspan(max(settings.pairs) + 1, top, color=INKS[2], alpha=0.15, label=deep)
        axis.set(xscale="log", xlabel=words, ylabel="n (pairs)", ylim=(bottom, top))
        axis.set_yticks(sorted(settings.pairs))
    axes[0, 0].set_title(f"{max(settings.steps):,} steps", fontsize=9)
    axes[0, 1].set_title(f"{max(settings.widths):,} units", fontsize=9)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=7)
    return shown("frontier", figure, "Depth two: ten times the effort buys a few pairs")
