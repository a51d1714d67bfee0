"""Depth two on D, the mixture that depth three learns: chance on the hard half, with a proof for each network.

D is half E1 (all gates equal one fair sign) and half uniform, on random products of n ANDs and ORs. Networks of
one hidden layer are trained with Adam on fresh batches, hinge loss, rates that fall linearly to 0: ReLU
networks of many widths, and the largest width with ReLU6, sigmoid and sinusoid units. Each is trained with four rates
from each of three starts (of weights, each with a seed and gates of its own), so that nobody can say that the baseline
was weak. All of them learn the easy half.

At the end every network proves a bound about itself (Theorem A): its weights allow a correlation of at most
c(N) with the product of gates on uniform points, so its hinge loss on the hard half is at least 1 - c(N), and
its error there, weighted by |N|, at least 1/2 - c(N) / (2 E|N|) (Z1). The tails of <w, x> are those on a lattice,
which are near the exact ones where Chernoff's bound loses a factor of two in all; for other activations see
`activation_bounds`. The explicit comb, n units with weights of size one, is drawn beside them: its error is exact.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import paritylab as pl

from ...bounds import CorrelationCertificate
from ...figures import INKS, panels
from ...networks.activations import Activation
from ...sweep import Results
from ...training.plans import Plan
from ..base import Claim, Null, Region
from ..drawing import shown
from ..measures import exactly, least, proportion
from .shared.baselines import RATES, STARTS, RandomSeparation, falling, last_records, rates_of, shallow
from .shared.combs import draw_at_its_width

ACTIVATIONS: dict[str, Activation] = {
    "ReLU": pl.relu,
    "ReLU6": pl.networks.relu6,
    "sigmoid": pl.networks.sigmoid,
    "sinusoid": pl.networks.Sinusoid(1),
}
LEAST_HINGE = {21: 0.8, 25: 0.95, 51: 0.95}
"""What is claimed of every network's certificate."""
SMALL_OUTPUTS = (
    "Unexplained: two of the 84 networks prove 0.363: 8,192 units of ReLU and of ReLU6 from the Gaussian start with "
    "the least rate. Their weights allow a correlation of 0.076, which proves a hinge loss of 0.92; but their outputs "
    "are small, E|N| = 0.28, and Z1 divides by that. No run with larger outputs tests it."
)
MARKS = "os^D"
NOTHING = Null("nothing proven", 0.0)


@dataclass(frozen=True)
class Settings:
    pairs: tuple[int, ...]
    widths: tuple[int, ...]
    steps: int
    others: tuple[str, ...]
    """Activations other than ReLU, at the largest width."""
    points: int
    """Of each half, on which errors are measured."""
    batch: int = 64
    every: int = 1000
    lanes: int = len(RATES) * len(STARTS)

    @property
    def shapes(self) -> list[tuple[str, int]]:
        """Activations and widths, the longest runs first."""
        return [
            *((name, max(self.widths)) for name in self.others),
            *(("ReLU", width) for width in sorted(self.widths, reverse=True)),
        ]


SETTINGS = {
    "quick": Settings(pairs=(25,), widths=(64,), steps=400, others=(), points=16_384, every=200, lanes=6),
    "paper": Settings(
        pairs=(51, 25, 21),
        widths=(16, 128, 1024, 8192),
        steps=100_000,
        others=("ReLU6", "sigmoid", "sinusoid"),
        points=65_536,
    ),
}


def plan(settings: Settings) -> Iterator[Plan]:
    """Twelve runs of each size and activation, side by side."""
    certificate, steps, points = CorrelationCertificate(settings.points), settings.steps, settings.points
    how: dict[str, Any] = {"batch": settings.batch, "every": settings.every, "lanes": settings.lanes}
    how |= {"records": (certificate,), "steps": steps, "points": points}
    for pairs in settings.pairs:
        for activation, width in settings.shapes:
            for start in range(len(STARTS)):
                labels = {"pairs": pairs, "width": width, "activation": activation, "law": start}
                network, rates = shallow(width, start, ACTIVATIONS[activation]), rates_of(width)
                yield falling(RandomSeparation(pairs), network, rate=rates, seeds=[start], labels=labels, **how)


def read(settings: Settings, results: Results) -> pd.DataFrame:
    """The end of each run: errors on both halves, and what the network proves; one that is not finite proves nothing.

    E|N| is from a sample: it counts as four standard deviations less.
    """
    last = last_records(results.curves())
    bound, correlation, size, square = np.stack(list(last.certificate)).T
    noise = np.sqrt(np.maximum(square - correlation**2, 0) / settings.points)
    least = size - 4 * np.sqrt(np.maximum(square - size**2, 0) / settings.points)
    weighted = np.where(least > 0, 0.5 - bound / (2 * np.where(least > 0, least, 1)), 0.0)
    proven = lambda value: np.nan_to_num(np.maximum(0, value), nan=0.0)
    return last.assign(
        proven_hinge=proven(1 - bound), proven_z1=proven(weighted), violated=np.abs(correlation) > bound + 4 * noise
    )


def claims(settings: Settings) -> Iterator[Claim]:
    """Wilson's interval of the least error; what is proven is exact but for E|N| in Z1, known to within 1%."""
    for pairs in sorted(settings.pairs):
        yield from claims_at(pairs, settings)


def claims_at(pairs: int, settings: Settings) -> Iterator[Claim]:
    words = (
        f"n = {pairs}, depth two, widths to {max(settings.widths):,}, {len(RATES)} rates, {len(STARTS)} starts, "
        f"{settings.steps:,} steps"
    )
    here = lambda ends: ends[ends.pairs == pairs]
    statement = f"{words}: the error on the hard half stays within 2% of one half; the least error of all networks"
    measure = lambda ends: proportion(round(here(ends).hard_error.min() * settings.points), settings.points)
    yield Claim(
        f"n{pairs}/best-error", statement, None, Region(0.48, 0.52), measure, theory=0.5, null=Null("depth three", 0.0)
    )
    statement = f"{words}: the easy half alone is learned; the median error there"
    measure = lambda ends: exactly(here(ends).easy_error.median())
    yield Claim(f"n{pairs}/easy", statement, None, Region(high=0.01), measure, null=Null("a guess", 0.5))
    statement = (
        f"{words}: every network proves about itself that its hinge loss on the hard half is at least "
        f"{LEAST_HINGE[pairs]}; the least proven loss"
    )
    measure = lambda ends: least(here(ends).proven_hinge)
    yield Claim(f"n{pairs}/certificate", statement, None, Region(low=LEAST_HINGE[pairs]), measure, null=NOTHING)
    statement = (
        f"{words}: every network proves about itself that its error on the hard half, weighted by |N|, is at "
        "least 0.4; the least proven"
    )
    measure = lambda ends: least(here(ends).proven_z1)
    small = SMALL_OUTPUTS if pairs == 21 else ""
    yield Claim(f"n{pairs}/z1", statement, None, Region(low=0.4), measure, explanation=small, null=NOTHING)
    statement = (
        f"{words}: no network's measured correlation with the target is above its bound by four standard "
        "errors; the number that are"
    )
    measure = lambda ends: exactly(here(ends).violated.sum())
    null = Null("networks that have learned the target", lambda ends: float(len(here(ends))))
    yield Claim(f"n{pairs}/violations", statement, None, Region(0, 0), measure, theory=0, null=null)


def plot(settings: Settings, ends: pd.DataFrame) -> dict[str, Figure]:
    """Error on the hard half, and loss there with what is proven of it, over the width."""
    figure, axes = panels(2, len(settings.pairs), width=3.4 if len(settings.pairs) > 1 else 5.4, height=2.5)
    for column, pairs in enumerate(sorted(settings.pairs)):
        here = ends[ends.pairs == pairs]
        draw(axes[0, column], here, settings, "hard_error")
        draw(axes[1, column], here, settings, "hard_loss")
        axes[0, column].set(title=f"n = {pairs}", ylim=(0, 0.6))
        axes[0, column].axhline(0.5, color="0.5", linewidth=0.8)
        draw_at_its_width(axes[0, column], pairs)
        axes[1, column].set(ylim=(0, 1.25), xlabel="hidden units")
    axes[0, 0].set_ylabel("error, hard half")
    axes[1, 0].set_ylabel("hinge loss, hard half")
    pairs_of = (axis.get_legend_handles_labels() for axis in axes[:, 0])
    found = {label: handle for handles, labels in pairs_of for handle, label in zip(handles, labels, strict=True)}
    handles, labels = [*found.values()], [*found]
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=7)
    return shown(
        "depth-two", figure, f"Trained, depth two stays at chance on the hard half ({settings.steps:,} Adam steps)"
    )


def draw(axis: Axes, here: pd.DataFrame, settings: Settings, name: str) -> None:
    """Each network a mark by its width; the least proven loss of each width as a line."""
    for i, activation in enumerate(dict.fromkeys(["ReLU", *settings.others])):
        rows = here[here.activation == activation]
        places = rows.width * 1.12**i
        axis.plot(places, rows[name], MARKS[i], color=INKS[i], markersize=4, alpha=0.6, label=f"{activation}: measured")
        if name == "hard_loss":
            proven = rows.groupby("width").proven_hinge.min()
            label = "least proven for a network" if i == 0 else None
            axis.plot(proven.index * 1.12**i, proven, "_-", color="0.2", markersize=12, linewidth=0.8, label=label)
    axis.set_xscale("log")
    axis.set_xticks(sorted(settings.widths), [f"{width:,}" for width in sorted(settings.widths)])
    axis.minorticks_off()
