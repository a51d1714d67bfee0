"""Does training keep a network of depth two that is better than chance? Started from the comb, on four losses.

The comb is an explicit network of n units with weights of size one that has no error on the easy half and an error of
about 1/2 - 0.46 / sqrt(n) on the hard half; its hinge loss there is above 2, since it is right by little and wrong
by much. A network of outputs near 0 on the hard half has a hinge loss of 1, so that a loss that grows with the size of
mistakes draws away from the comb. Adam on the mixture, from the comb itself, on the hinge, the logistic and the square
loss, and on a ramp, which is bounded: min(1, max(0, (1 - y f) / 2)). What is measured is the 0-1 error and the
loss on the hard half over the steps.

The comb's outputs are odd numbers, so that the ramp is flat wherever it starts: keeping the comb says little there.
From the comb at a quarter of its size the ramp has a slope at the two counts on either side of its sign change.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import numpy as np
import pandas as pd
from jaxtyping import PRNGKeyArray
from matplotlib.figure import Figure

import paritylab as pl

from ...figures import ink, label_edges, panels
from ...networks.combs import best_comb, comb_network
from ...networks.mlp import FeedForward, Layer
from ...sweep import Results
from ...training.plans import Plan
from ..base import Claim, Null, Region
from ..drawing import shown
from ..measures import median, median_difference
from .shared.families import random_target

LOSSES = (pl.training.Hinge(), pl.training.logistic, pl.training.square_loss, pl.training.ramp)
CASES = {
    "hinge": (0, 1.0),
    "logistic": (1, 1.0),
    "square": (2, 1.0),
    "ramp": (3, 1.0),
    "ramp from a quarter": (3, 0.25),
}
"""Which loss, and what the comb's outputs are multiplied by."""
LOST, KEPT = 0.47, 0.03
"""An error on the hard half from which on the comb is lost; how far above the comb's it may be if it is kept."""


class Given(eqx.Module):
    """The recipe of a network with these weights, whatever the key."""

    network: FeedForward

    def __call__(self, n: int, *, key: PRNGKeyArray) -> FeedForward:
        return self.network


@dataclass(frozen=True)
class Settings:
    pairs: tuple[int, ...]
    seeds: int
    """Of gates, and of the examples."""
    steps: int
    records: int
    rate: float = 0.001
    batch: int = 256
    points: int = 16_384
    together: int = 2
    """Seeds that train side by side."""


SETTINGS = {
    "quick": Settings(pairs=(15,), seeds=6, steps=2000, records=10, points=8192),
    "paper": Settings(pairs=(15, 21, 31), seeds=20, steps=30_000, records=30, together=20),
}


def start_of(target: pl.GateProduct, size: float) -> tuple[Given, float]:
    """The comb for these gates with its outputs times `size`, and its exact error on the hard half."""
    ors = int(np.sum(np.asarray(target.ors) > 0))
    comb = best_comb(ors, target.pairs - ors)
    network = comb_network(target, comb)
    output = Layer(size * network.output.weight, size * network.output.bias)
    return Given(FeedForward(network.hidden, output, network.activation)), comb.error


def plan(settings: Settings) -> Iterator[Plan]:
    """A run for each loss and seed; which loss is a number of the run, so that all of one n share a program."""
    every = settings.steps // settings.records
    recording = pl.training.Recording([pl.training.ErrorsByPart(settings.points)], every)
    how: dict[str, Any] = {"rate": settings.rate, "batch": settings.batch, "optimizer": "adam", "validation": 0}
    how |= {"steps": settings.steps, "every": every, "records": recording, "lanes": settings.together * len(CASES)}
    for pairs in settings.pairs:
        for seed in range(settings.seeds):
            target = random_target(pairs, seed)
            task = pl.distributions.separation(pl.distributions.equal_gates(target))
            for name, (which, size) in CASES.items():
                network, error = start_of(target, size)
                labels = {"pairs": pairs, "loss_name": name, "comb_error": error}
                chosen = pl.training.ChosenLoss(LOSSES, which)
                yield pl.plan(task, network, loss=chosen, seeds=[seed], labels=labels, **how)


def read(settings: Settings, results: Results) -> pd.DataFrame:
    """Error and loss on both halves at each record."""
    curves = results.curves()
    by_part = np.stack([np.stack(list(each)) for each in curves.errors_by_part])
    names = {"easy_error": (0, 0), "hard_error": (1, 0), "hard_loss": (1, 1)}
    return curves.assign(**{name: by_part[:, part, of] for name, (part, of) in names.items()})


def ends(curves: pd.DataFrame, pairs: int, loss: str) -> pd.DataFrame:
    here = curves[(curves.pairs == pairs) & (curves.loss_name == loss)]
    return here[here.step == here.step.max()]


def claims(settings: Settings) -> Iterator[Claim]:
    """Medians over seeds, with intervals from order statistics; an error is known to within 2% by its sample."""
    for pairs in settings.pairs:
        for case in CASES:
            yield kept(pairs, case, settings) if "ramp" in case else lost(pairs, case, settings)
        yield loss_falls(pairs)


def lost(pairs: int, loss: str, settings: Settings) -> Claim:
    statement = (
        f"n = {pairs}: {settings.steps:,} steps of Adam on the {loss} loss from the comb un-learn it; the median error "
        "on the hard half at the end"
    )
    measure = lambda curves: median(ends(curves, pairs, loss).hard_error)
    null = Null("the comb", lambda curves: float(curves[curves.pairs == pairs].comb_error.median()))
    return Claim(f"n{pairs}/{loss}/lost", statement, None, Region(low=LOST), measure, null=null)


def kept(pairs: int, case: str, settings: Settings) -> Claim:
    words = "from a quarter of the comb, where it is not flat," if case != "ramp" else "from the comb"
    statement = (
        f"n = {pairs}: {settings.steps:,} steps of Adam on the ramp {words} keep the comb; the median of the error "
        "on the hard half at the end less the comb's"
    )

    def measure(curves: pd.DataFrame) -> Any:
        rows = ends(curves, pairs, case)
        return median_difference(rows.hard_error - rows.comb_error)

    null = Null("a guess", lambda curves: 0.5 - float(curves[curves.pairs == pairs].comb_error.median()))
    return Claim(f"n{pairs}/{case.replace(' ', '-')}/kept", statement, None, Region(high=KEPT), measure, null=null)


def loss_falls(pairs: int) -> Claim:
    words = "while the error rises, the hinge loss on the hard half falls from above 1.5"
    statement = f"n = {pairs}: {words}; the median at the end"
    measure = lambda curves: median(ends(curves, pairs, "hinge").hard_loss)
    null = Null("the comb", hinge_of_comb(pairs))
    return Claim(f"n{pairs}/hinge/loss", statement, None, Region(0.9, 1.2), measure, null=null)


def hinge_of_comb(pairs: int) -> float:
    """The exact hinge loss of the comb for as many ORs as ANDs, but for one."""
    return best_comb(math.ceil(pairs / 2), pairs // 2).hinge


def plot(settings: Settings, curves: pd.DataFrame) -> dict[str, Figure]:
    """The median error and loss on the hard half over the steps, a line for each loss."""
    figure, axes = panels(2, len(settings.pairs), width=3.0 if len(settings.pairs) > 1 else 4.6, height=2.2)
    for column, pairs in enumerate(settings.pairs):
        here = curves[curves.pairs == pairs]
        for i, loss in enumerate(CASES):
            rows = here[here.loss_name == loss].groupby("step")
            for row, name in enumerate(("hard_error", "hard_loss")):
                middle = rows[name].median()
                axes[row, column].plot(middle.index, middle, label=loss, **ink(i))
        axes[0, column].axhline(0.5, color="0.6", linewidth=0.8)
        start = float(here.comb_error.median())
        axes[0, column].plot([0], [start], "*", color="0.2", markersize=8, label="the comb", clip_on=False)
        axes[0, column].set(title=f"n = {pairs}", ylim=(0.3, 0.55))
        axes[1, column].set(yscale="log")
    label_edges(axes, x="Adam step")
    axes[0, 0].set_ylabel("error, hard half")
    axes[1, 0].set_ylabel("loss trained on, hard half")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, fontsize=7)
    return shown("unlearning", figure, "Training from the comb, a network of depth two that is better than chance")
