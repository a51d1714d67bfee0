"""Depth three trained from end to end, with no layers given: which easy halves help, and where it stops.

Two networks on the mixture of an easy half and the uniform one: a first layer of four ReLU units for each pair
(x_i, z_i) below 256 units, which knows what belongs together; and a dense one of 512 and 256 units. Adam with rate
0.004 that falls linearly to 0, batches of 256. The easy halves are E1 (all gates equal), E7 (stealth), E5
(sparse pairs), E4 (balanced gates, no correlation with the label) and none (the uniform half alone). Learned means
an error of at most 5% on the uniform half.

A first trial (one run each): at n = 9 all of them are learned; at n = 15 the local network learns with E1,
E7 and E5, not with E4 and not from the uniform half alone, and the dense one does not learn with E1 either. Ten seeds
each at n = 15 say: the local network with E7 in 9, with E5 in 7, with E1 in 3, and in none with E4 or without an easy
half; the dense one with E7 in 4 alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import paritylab as pl

from ...figures import INKS, panels
from ...networks.base import Recipe
from ...sweep import Results
from ...training.plans import Plan
from ..base import Claim, Null, Region
from ..drawing import dress, shown
from ..measures import fraction
from .shared.baselines import RandomSeparation, falling, last_records

LEARNED = 0.05
WORDS = {
    "E1": "E1\nequal gates",
    "E7": "E7\nstealth",
    "E5": "E5\nsparse pairs",
    "E4": "E4\nbalanced",
    "hard": "uniform\nalone",
}
EXPECTED = {
    (9, "local"): {"E1": True, "E7": True, "E5": True, "E4": True, "hard": True},
    (9, "dense"): {"E1": True},
    (15, "local"): {"E1": True, "E7": True, "E5": True, "E4": False, "hard": False},
    (15, "dense"): {"E1": False},
}
"""What a first trial saw."""
UNDECIDED = ("n15/local/E1", "n15/local/E5")
WHY = (
    "Unexplained: a first trial had one run and may have been lucky: three of ten seeds learn with E1 in 20,000 steps, "
    "seven with E5."
)


@dataclass(frozen=True)
class Settings:
    pairs: int
    seeds: int
    steps: int
    cases: tuple[tuple[str, str], ...]
    """Networks and families."""
    local: tuple[int, int] = (4, 256)
    dense: tuple[int, int] = (512, 256)
    batch: int = 256
    rate: float = 0.004
    points: int = 8192
    lanes: int | None = None

    def recipe(self, network: str) -> Recipe:
        return pl.networks.LocalPairs(self.local[0], self.local[1:]) if network == "local" else pl.MLP(self.dense)


EVERYWHERE = tuple((network, family) for network in ("local", "dense") for family in WORDS)
SETTINGS = {
    "quick": Settings(pairs=9, seeds=10, steps=3000, cases=(("local", "E1"),), batch=128, points=4096, lanes=5),
    "paper": Settings(pairs=15, seeds=10, steps=20_000, cases=EVERYWHERE, lanes=10),
}


def plan(settings: Settings) -> Iterator[Plan]:
    steps, every = settings.steps, settings.steps // 20
    how: dict[str, Any] = {"rate": settings.rate, "batch": settings.batch, "seeds": settings.seeds}
    how |= {"steps": steps, "every": every, "record_every": every, "points": settings.points, "lanes": settings.lanes}
    for network, family in settings.cases:
        labels = {"architecture": network, "family": family}
        yield falling(RandomSeparation(settings.pairs, family), settings.recipe(network), labels=labels, **how)


class Data(NamedTuple):
    curves: pd.DataFrame
    ends: pd.DataFrame
    """The last records."""

    def of(self, network: str, family: str) -> pd.DataFrame:
        return self.ends[(self.ends.architecture == network) & (self.ends.family == family)]


def read(settings: Settings, results: Results) -> Data:
    curves = results.curves()
    return Data(curves, last_records(curves))


def claims(settings: Settings) -> Iterator[Claim]:
    """The fraction of seeds that learn is above one half where a first trial learned, and below where it did not."""
    for network, family in settings.cases:
        known = EXPECTED[(settings.pairs, network)].get(family)
        if known is not None:
            yield learns(settings, network, family, known)


def learns(settings: Settings, network: str, family: str, known: bool) -> Claim:
    name = f"n{settings.pairs}/{network}/{family}"
    statement = (
        f"n = {settings.pairs}, {network} first layer, easy half {family}: Adam from end to end "
        f"{'learns' if known else 'does not learn'} in {settings.steps:,} steps; the fraction of {settings.seeds} "
        "seeds that do"
    )
    region, why = Region(low=0.5) if known else Region(high=0.5), WHY if name in UNDECIDED else ""
    measure = lambda data: fraction(data.of(network, family).hard_error <= LEARNED)
    null = Null("a guess", 0.0) if known else Null("runs that learn", 1.0)
    return Claim(name, statement, None, region, measure, explanation=why, null=null)


def plot(settings: Settings, data: Data) -> dict[str, Figure]:
    """The error of each seed at the end, and the median over steps."""
    figure, axes = panels(1, 2, width=4.6, height=3.2)
    left, right = axes[0]
    families = list(dict.fromkeys(family for _, family in settings.cases))
    networks = list(dict.fromkeys(network for network, _ in settings.cases))
    words = {
        "local": f"local, {settings.local[0]} per pair, then {settings.local[1]}",
        "dense": f"dense, {settings.dense[0]}, then {settings.dense[1]}",
    }
    for i, network in enumerate(networks):
        for place, family in enumerate(families):
            here = data.of(network, family)
            places = place + 0.22 * (i - 0.5 * (len(networks) - 1)) + 0.012 * (np.arange(len(here)) - len(here) / 2)
            label = words[network] if place == 0 else None
            left.plot(places, here.hard_error, "os"[i], color=INKS[i], markersize=3.5, label=label)
    left.axhline(LEARNED, color="0.5", linewidth=0.8, linestyle=":")
    left.set_xticks(range(len(families)), [WORDS[family] for family in families], fontsize=7)
    left.set(ylabel="error on the uniform half", ylim=(-0.02, 0.72))
    dress(left, title=f"after {settings.steps:,} steps, each seed", legend="center right")
    curves = data.curves[data.curves.architecture == networks[0]]
    errors = curves.assign(error=[np.asarray(list(each))[1][0] for each in curves.errors_by_part])
    for i, family in enumerate(families):
        middle = errors[errors.family == family].groupby("step").error.median()
        label = WORDS[family].replace("\n", ", ")
        right.plot(middle.index, middle, color=INKS[i], linestyle=("-", "--", "-.", ":", "-")[i], label=label)
    right.set(xlabel="step", ylabel="median error, uniform half", ylim=(-0.02, 0.72))
    dress(right, title=words[networks[0]], legend="upper right", columns=2)
    return shown("end-to-end", figure, f"Depth three from end to end, n = {settings.pairs}")
