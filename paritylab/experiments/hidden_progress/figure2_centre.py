"""Figure 2, centre, of hidden-progress: the path and the time depend on the initialization, not on the batches.

Several runs start from each of some initial networks, with other batches each; batches of 128, rate 0.01, as in the
paper. It does not name the network or the problem: here n = 30, k = 3, and the sinusoidal neuron (xiv) and the ReLU
networks of width 10 (i) and 100 (ii). All runs have the same target. Every initial network meets the same sequences of
batches, so that a table of times has a row for each initialization and a column for each sequence.

"More on the initialization than on the batches": rows explain at least half of the variance of the times (intraclass
correlation; two-way decomposition, so that batches that are hard for all count against it). Times are replaced by their
ranks, for which a run that does not learn is the slowest, and which no scale of time changes. The interval is a
bootstrap over initializations. For the path the same is asked of the time at which the loss on fresh points first is
below one half.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float

import paritylab as pl

from ...figures import INKS, Axes, Figures, panels
from ...networks.base import Recipe
from ...statistics import intraclass_correlation
from ...sweep import Results
from ..base import Claim, Measured, Null, Region
from ..measures import bootstrap

N, K, BATCH, RATE = 30, 3, 128, 0.01
LOSS = 0.5
RESAMPLES = 1000
SHOWN = (4, 8)
"""Initializations and batches whose losses are drawn."""


class Grid(NamedTuple):
    """How many initial networks, and how many sequences of batches for each of them."""

    inits: int
    batches: int


@dataclass(frozen=True)
class Settings:
    grids: Mapping[str, Grid]
    steps: int


SETTINGS = {
    "quick": Settings({"xiv": Grid(40, 6), "i": Grid(20, 5), "ii": Grid(12, 4)}, steps=40_000),
    "paper": Settings(dict.fromkeys(("xiv", "i", "ii"), Grid(40, 20)), steps=40_000),
}


class Panel(NamedTuple):
    name: str
    words: str
    network: Recipe
    record_every: int


PANELS = (
    Panel("xiv", "sinusoidal neuron", pl.Neuron(pl.networks.Sinusoid(K)), 20),
    Panel("i", "ReLU, width 10", pl.MLP(10), 200),
    Panel("ii", "ReLU, width 100", pl.MLP(100), 200),
)


def plan(settings: Settings) -> Iterator[pl.Plan]:
    """One plan per sequence of batches."""
    for panel in PANELS:
        inits, batches = settings.grids[panel.name]
        for sequence in range(batches):
            yield pl.plan(
                pl.Uniform(pl.Parity(N, support=range(K))),
                panel.network,
                batch=BATCH,
                rate=RATE,
                seeds=pl.training.Seeds(init=inits, data=[sequence] * inits),
                steps=settings.steps,
                records=pl.training.Recording((pl.training.FreshLoss(),), panel.record_every),
                labels={"panel": panel.name, "sequence": sequence},
            )


Times = Float[np.ndarray, "inits sequences"]


class Data(NamedTuple):
    times: dict[tuple[str, str], Times]
    """By panel and claim: convergence, and the loss below one half; infinite where it never came."""
    losses: pd.DataFrame


def read(settings: Settings, results: Results) -> Data:
    table, losses = results.table(), results.curves()
    low = losses[losses.fresh_loss < LOSS].groupby("run").step.min()
    table = table.assign(time=table.converged_at, path=table.run.map(low))
    times = {}
    for panel, name in itertools.product(PANELS, ("time", "path")):
        wide = table[table.panel == panel.name].pivot(index="seed", columns="sequence", values=name)
        times[panel.name, name] = wide.to_numpy(float, na_value=np.inf)
    return Data(times, losses)


def claims(settings: Settings) -> Iterator[Claim]:
    for panel in PANELS:
        for name, what in (("time", "the convergence time"), ("path", f"the time until the loss is below {LOSS:g}")):
            text = f"({panel.name}) {panel.words}: {what} depends on the initialization more than on the batches; the "
            text += "part of the variance of its ranks that the initialization explains"
            measure = partial(explained, panel.name, name)
            null = Null("a time that only the batches decide", 0)
            yield Claim(f"{panel.name}/{name}", text, None, Region(low=0.5), measure, null=null)


def explained(panel: str, name: str, data: Data) -> Measured:
    """The intraclass correlation of the ranks, with a bootstrap over initializations."""
    from scipy.stats import rankdata

    times = data.times[panel, name]
    return bootstrap(rankdata(times, axis=None).reshape(times.shape), intraclass_correlation, RESAMPLES)


def plot(settings: Settings, data: Data) -> Figures:
    """Losses of some initializations, each in its colour, and below the times of all."""
    figure, axes = panels(2, len(PANELS), width=3.0, height=2.3)
    for (above, below), panel in zip(axes.T, PANELS, strict=True):
        draw_losses(above, data.losses[data.losses.panel == panel.name])
        draw_times(below, data.times[panel.name, "time"])
        above.set_title(f"({panel.name}) {panel.words}")
    axes[0, 0].set_ylabel("hinge loss on fresh points")
    axes[1, 0].set_ylabel("convergence time (steps)")
    where = f"n = {N}, k = {K}, batch {BATCH}, rate {RATE:g}"
    figure.suptitle(f"One colour is one initialization, met by several sequences of batches ({where})")
    return {"figure2-centre": figure}


def draw_losses(axis: Axes, losses: pd.DataFrame) -> None:
    inits, sequences = SHOWN
    shown = losses[(losses.seed < inits) & (losses.sequence < sequences)]
    for (seed, _), curve in shown.groupby(["seed", "sequence"]):
        axis.plot(curve.step, curve.fresh_loss, color=INKS[int(seed)], linewidth=0.8)
    axis.set(xlabel="step", ylim=(0, 1.3), xlim=(0, None))


def draw_times(axis: Axes, times: Times) -> None:
    """One column of dots for each initialization, in the order of their medians; those above in their colours."""
    order = np.argsort(np.median(times, axis=1), kind="stable")
    for place, init in enumerate(order):
        color = INKS[init] if init < SHOWN[0] else "0.6"
        axis.plot([place] * times.shape[1], times[init], ".", color=color, markersize=3)
    axis.set(xlabel="initialization, by its median time", yscale="log")
    axis.set_xticks([])
