"""Theorem I on trained networks: a 0-1 error on the hard half that each of them proves about itself, over n.

A network of depth two hardly correlates with a product of gates, nor do its powers: so its sign can be right only as
far as no polynomial in its output is near its sign. The best polynomial for the law of a given network is found by a
linear program, and the error is at least what that proves. It passes the ceiling of 1/4 of a bound by two moments (Z2),
and for the comb it is tight to a root of a logarithm.

ReLU networks of several widths, Adam on the mixture D, hinge loss, rates that fall linearly to 0. At the end of each
run the bounds on the powers are computed from the weights, and the law of the output from two samples of uniform
points: on one the polynomial is chosen, on the other its distance from the sign is measured, and counts with four
standard errors more. The degree is the best up to 9. All of it is about the network as it is; what is sampled is the
law of its output alone.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ...bounds import ErrorCertificate, certified_error
from ...figures import INKS, panels
from ...sweep import Results
from ...training.plans import Plan
from ..base import Claim, Null, Region
from ..drawing import dress, shown
from ..measures import exactly, median
from .shared.baselines import RandomSeparation, falling, last_records, rates_of, shallow
from .shared.combs import LOOK, comb_of

CLAIMED = {51: 0.28, 101: 0.31}
"""What is claimed of the median network at these n."""
CEILING = 0.25
"""What Z2 can prove at the most."""


@dataclass(frozen=True)
class Settings:
    pairs: tuple[int, ...]
    widths: tuple[int, ...]
    rates: int
    """How many of the four."""
    starts: int
    steps: int
    points: int
    """In each sample of a network's outputs."""
    batch: int = 64
    degree: int = 9

    @property
    def record(self) -> ErrorCertificate:
        return ErrorCertificate(self.points, degree=self.degree)


SETTINGS = {
    "quick": Settings(pairs=(9, 51), widths=(64,), rates=2, starts=3, steps=1000, points=16_384),
    "paper": Settings(
        pairs=(9, 21, 51, 101),
        widths=(16, 128, 1024),
        rates=4,
        starts=3,
        steps=20_000,
        points=65_536,
    ),
}


def plan(settings: Settings) -> Iterator[Plan]:
    """The runs of one size side by side, the longest first."""
    how: dict[str, Any] = {"batch": settings.batch, "every": settings.steps // 2, "points": settings.points}
    how |= {"records": (settings.record,), "steps": settings.steps, "lanes": settings.rates * settings.starts}
    for width in sorted(settings.widths, reverse=True):
        for pairs in sorted(settings.pairs, reverse=True):
            for start in range(settings.starts):
                labels, rates = {"pairs": pairs, "width": width, "law": start}, rates_of(width)[-settings.rates :]
                yield falling(
                    RandomSeparation(pairs), shallow(width, start), rate=rates, seeds=[start], labels=labels, **how
                )


def read(settings: Settings, results: Results) -> pd.DataFrame:
    """The end of each run: its errors, what it proves of them, and the ratio R = Lambda_1 / |N| of the bound."""
    last = last_records(results.curves())
    recorded = [np.asarray(each, float) for each in last.error_certificate]
    prove = functools.partial(certified_error, record=settings.record)
    bounds = [prove(int(pairs), each) for pairs, each in zip(last.pairs, recorded, strict=True)]
    noise = np.sqrt(last.hard_error * (1 - last.hard_error) / settings.points)
    proven = np.array([bound.value for bound in bounds])
    return last.assign(
        proven=proven,
        # A part is missing where nothing is proven.
        correlation=[
            next((each.value for each in bound.parts if each.name == "correlation"), np.nan) for bound in bounds
        ],
        violated=last.hard_error < proven - 4 * noise,
    )


def claims(settings: Settings) -> Iterator[Claim]:
    """The median over all widths, rates and starts, with an interval from order statistics."""
    for pairs in sorted(set(settings.pairs) & {*CLAIMED}):
        yield certifies(pairs, CLAIMED[pairs])
    words = "no network has an error on the hard half below what it proves, by four standard errors"
    statement = f"{words}; the number of those that do"
    measure = lambda ends: exactly(ends.violated.sum())
    null = Null("combs in the place of networks that prove 0.45", lambda ends: float((comb_errors(ends) < 0.45).sum()))
    yield Claim("violations", statement, None, Region(0, 0), measure, theory=0, null=null)


def comb_errors(ends: pd.DataFrame) -> np.ndarray:
    return np.array([comb_of(int(pairs)).error for pairs in ends.pairs])


def certifies(pairs: int, least: float) -> Claim:
    statement = (
        f"n = {pairs}: trained networks prove about themselves a 0-1 error on the hard half above the ceiling of 1/4 "
        "of two moments; the median of what they prove"
    )
    measure = lambda ends: median(ends[ends.pairs == pairs].proven)
    null = Null("the most that two moments prove (Z2)", CEILING)
    return Claim(f"n{pairs}/certified", statement, None, Region(low=least), measure, null=null)


def plot(settings: Settings, ends: pd.DataFrame) -> dict[str, Figure]:
    """What is measured, what is proven and the comb, over n, and what is proven over the width."""
    figure, axes = panels(1, 2, width=4.2, height=3.2)
    left, right = axes[0]
    places = sorted(settings.pairs)
    for i, width in enumerate(sorted(settings.widths)):
        rows, shift, words = ends[ends.width == width], 1.03 ** (i - 1), f"{width:,} units"
        mark = "os^D"[i % 4]
        left.plot(
            rows.pairs * shift, rows.proven, mark, color=INKS[i], markersize=3, alpha=0.6, label=f"proven, {words}"
        )
    for kind, style in (("proven", "-"), ("hard_error", ":")):
        middle = ends.groupby("pairs")[kind].median()
        words = {"proven": "proven: median", "hard_error": "measured: median"}[kind]
        left.plot(middle.index, middle, color="0.15", linestyle=style, linewidth=1.2, label=words)
    left.plot(places, [comb_of(n).error for n in places], marker="|", label="explicit comb: exact", **LOOK)
    left.axhline(CEILING, color="0.6", linewidth=0.8, linestyle="--", label="ceiling of two moments")
    left.set(xscale="log", xlabel="gates n", ylabel="error on the hard half", ylim=(-0.02, 0.55))
    dress(left, ticks=places, legend="lower right", size=6)
    for i, pairs in enumerate(places):
        middle = ends[ends.pairs == pairs].groupby("width").proven.median()
        right.plot(middle.index, middle, marker="osv^D<>"[i % 7], color=INKS[i % len(INKS)], label=f"n = {pairs}")
    right.set(xscale="log", xlabel="hidden units", ylabel="proven error, hard half: median", ylim=(-0.02, 0.55))
    dress(right, ticks=sorted(settings.widths), legend="lower left", columns=2)
    return shown("certified-error", figure, "The 0-1 error that trained networks of depth two prove about themselves")
