"""Figure 16 of hidden-progress: parities are learned from noisy labels, too.

A ReLU network of width 100 at rate 0.1 with hinge loss learns the (50, 3)-parity from labels that are flipped with
probability p, at several batch sizes; five seeds each. Its error is that on labels without noise. It is said to learn
even at p = 0.49, with times much longer for small batches and high noise, and not always to 100% at a constant rate.
The quick scale has n = 30 and p up to 0.25.

Label noise multiplies every correlation E[y f(x)] by 1 - 2p. The appendix flips with probability 1/2 - epsilon and has
a factor of epsilon; with that p the factor is 2 epsilon. The caption's epsilon = 1 - 2p is the right one, but makes
49% not 0.01 but 0.02. We use p itself. Both readings are checked here by enumeration.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import paritylab as pl

from ...figures import Figures, label_edges, panels
from ...networks.base import outputs
from ...sweep import Call
from ..base import Claim, Region
from ..measures import exactly, fraction
from .shared.curves import PLATEAU, TrainingCurves, draw_curves, of_learning, read as read
from .shared.measures import slowdown

K, WIDTH, RATE = 3, 100, 0.1
SMALL = 8
"""Coordinates of the cube on which correlations are enumerated."""


@dataclass(frozen=True)
class Settings:
    n: int
    seeds: int
    steps: int
    batches: tuple[int, ...]
    flips: tuple[float, ...]
    record_every: int


BATCHES, FLIPS = (32, 128, 1024), (0.0, 0.1, 0.25, 0.4, 0.45, 0.49)
SETTINGS = {
    "quick": Settings(30, seeds=12, steps=10_000, batches=BATCHES[:2], flips=FLIPS[:3], record_every=50),
    "paper": Settings(50, seeds=25, steps=1_000_000, batches=BATCHES, flips=FLIPS, record_every=500),
}

PRINTED = (
    "E[y f] is (1 - p) E[y f] - p E[y f] without noise, so that the factor is 1 - 2p; with p = 1/2 - "
    "epsilon it is 2 epsilon. The caption of the figure has 1 - 2p."
)


def noise_factor(flip: float) -> dict[str, float]:
    """E[y f(x)] with labels flipped over that without, for a random network f, by enumeration."""
    clean = pl.Uniform(pl.Parity(SMALL, support=range(K)))
    network = pl.MLP(20)(SMALL, key=pl.root_key(0))

    def correlation(task: pl.AbstractDistribution) -> float:
        x, y, probability = task.support()
        return float(np.sum(np.asarray(probability * y, float) * np.asarray(outputs(network, x), float)))

    return {"factor": correlation(pl.FlippedLabels(clean, flip)) / correlation(clean)}


def plan(settings: Settings) -> Iterator[Call | pl.Plan]:
    yield Call(noise_factor, {"flip": max(settings.flips)}, {"panel": "factor"}, seconds=1.0)
    parity = pl.Uniform(pl.Parity(settings.n, support=range(K)))
    for batch, flip in itertools.product(settings.batches, settings.flips):
        yield pl.plan(
            pl.FlippedLabels(parity, flip),
            pl.MLP(WIDTH),
            batch=batch,
            rate=RATE,
            seeds=settings.seeds,
            steps=settings.steps,
            records=pl.training.Recording((pl.FreshError(),), settings.record_every),
            labels={"panel": name_of(batch, flip)},
        )


def name_of(batch: int, flip: float) -> str:
    return f"B{batch}/p{flip:g}"


def claims(settings: Settings) -> Iterator[Claim]:
    yield from of_factor(max(settings.flips))
    for batch in settings.batches:
        for flip in settings.flips:
            yield from of_panel(batch, flip, settings.seeds)
        yield slower(batch, max(settings.flips), settings.seeds)


def of_factor(flip: float) -> Iterator[Claim]:
    """What becomes of correlations, by two formulas."""
    factor = lambda curves: exactly(curves.table[curves.table.panel == "factor"].factor.iloc[0])
    near = lambda value: Region(value - 1e-5, value + 1e-5)
    text, right = f"flipping labels with p = {flip:g} multiplies correlations by 1 - 2p", 1 - 2 * flip
    yield Claim("factor", text, None, near(right), factor, theory=right)
    text, printed = f"the factor is 1/2 - p, as the text of C.6 has it; p = {flip:g}", 0.5 - flip
    yield Claim("factor-printed", text, printed, near(printed), factor, explanation=PRINTED)


def of_panel(batch: int, flip: float, seeds: int) -> Iterator[Claim]:
    name, words = name_of(batch, flip), f"batch {batch}, {flip:.0%} of labels flipped"
    text = f"{words}: the error without noise comes below {PLATEAU}; the fraction of seeds"
    below = lambda curves: fraction(np.isfinite(left(curves, name, seeds)))
    yield Claim(f"{name}/nontrivial", text, None, Region(low=0.5), below)
    yield of_learning(name, words, "no mistake without noise is left; the fraction of seeds")


def slower(batch: int, flip: float, seeds: int) -> Claim:
    times = lambda curves: (left(curves, name_of(batch, each), seeds) for each in (flip, 0.0))
    text = f"the median time to an error below {PLATEAU} with {flip:.0%} of labels flipped over that without"
    statement = f"batch {batch}: noise takes longer; {text}"
    return Claim(f"B{batch}/slower", statement, None, Region(low=1), lambda curves: slowdown(*times(curves)))


def left(curves: TrainingCurves, panel: str, seeds: int) -> np.ndarray:
    """The step at which the error of each seed is first below 0.4, or infinity."""
    first = curves.of(panel).query(f"fresh_error < {PLATEAU}").groupby("seed").step.min()
    return first.reindex(range(seeds)).to_numpy(float, na_value=np.inf)


def plot(settings: Settings, curves: TrainingCurves) -> Figures:
    """A row for each batch size, a column for each noise."""
    figure, axes = panels(len(settings.batches), len(settings.flips), width=2.6, height=1.9)
    for row, batch in zip(axes, settings.batches, strict=True):
        for axis, flip in zip(row, settings.flips, strict=True):
            draw_curves(axis, curves.of(name_of(batch, flip)))
            axis.set_title(f"batch {batch}, {flip:.0%} of labels flipped")
    label_edges(axes, "step", "error without noise")
    what = f"Noisy ({settings.n}, {K})-parity, ReLU network of width {WIDTH}"
    figure.suptitle(f"{what} (bold: seed 0; thin: further seeds)")
    return {"figure16": figure}
