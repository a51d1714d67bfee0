"""A curriculum on mixed inputs: sparse examples first (Abbe, Cornacchia, Lotfi, 2306.16921).

A sample of N points of d = 100 bits is mixed: a share rho of them is sparse (each bit is -1 with probability p = 0.01
alone), the others are uniform; rho = p = 0.01. An MLP 512-1024-512-64 is trained on the parity of k bits by SGD of rate
0.003 on the square loss, batch 64. With the curriculum the sparse points come first, until the training loss, a mean
over 10,000 steps, is below 0.01, and all points after that; without it all points from the beginning. The claim: fewer
steps, and fewer examples, the more so the larger k is.

Where we differ: the paper trains until the loss on the sample is below 0.001 and then tests on the same mixture; a run
here has learned once at most 5% of fresh uniform points are misclassified, the part of the test that is hard. The
paper finds its sparse points by their mean coordinate; here they are known. That is the same but for a point in 10^5.

The quick scale has d = 30, an MLP 64-64 at rate 0.02, rho = 0.05, and a window of 500 steps.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

import paritylab as pl

from ...distributions import Curriculum, HeldOut, Phase, Stratified
from ...figures import INKS, Figures, panels
from ...statistics import log_rank
from ...survival import CensoredTimes
from ..base import Claim, Measured, Null, Region
from ..drawing import dress, shown
from ..measures import fraction

P, BATCH, ENOUGH = 0.01, 64, 0.05


@dataclass(frozen=True)
class Settings:
    d: int
    degrees: tuple[int, ...]
    widths: tuple[int, ...]
    rate: float
    rho: float
    samples: tuple[int, ...]
    window: int
    steps: int
    seeds: int

    @property
    def every(self) -> int:
        """Steps from one validation to the next."""
        return self.window


SETTINGS = {
    "quick": Settings(
        d=30, degrees=(4, 5), widths=(64, 64), rate=0.02, rho=0.05, samples=(6000, 20_000), window=500, steps=20_000,
        seeds=8,
    ),
    "paper": Settings(
        d=100, degrees=(5, 7), widths=(512, 1024, 512, 64), rate=0.003, rho=0.01, samples=(10_000, 100_000),
        window=10_000, steps=300_000, seeds=8,
    ),
}  # fmt: skip
WAYS = {"curriculum": "sparse points first", "plain": "all points at once"}


def plan(settings: Settings) -> Iterator[pl.Plan]:
    for k, sample, way in itertools.product(settings.degrees, settings.samples, WAYS):
        parity = pl.Parity(settings.d, range(k))
        sparse, dense = pl.Product(parity, 1 - 2 * P), pl.Uniform(parity)
        few = round(sample * settings.rho)
        whole: pl.AbstractDistribution = Stratified([sparse, dense], [few, sample - few])
        if way == "curriculum":
            first = Phase(Stratified([sparse], [few]), loss_below=0.01, window=settings.window)
            whole = Curriculum([first, Phase(whole)])
        yield pl.plan(
            HeldOut(whole, dense), pl.MLP(settings.widths), rate=settings.rate, batch=BATCH, loss="square",
            steps=settings.steps, every=settings.every, seeds=settings.seeds, validation=4096,
            learned=pl.training.ErrorAtMost(ENOUGH), labels={"k": k, "examples": sample, "way": way},
        )  # fmt: skip


def claims(settings: Settings) -> Iterator[Claim]:
    most, least = max(settings.samples), min(settings.samples)
    for k in settings.degrees:
        yield Claim(
            f"k{k}/learns", f"k = {k}, {most:,} examples: with sparse points first the parity is learned; the fraction "
            "of seeds", 1.0, Region(low=0.6), partial(share, k, most, "curriculum"), null=Null("a guess", 0.0),
        )  # fmt: skip
        yield Claim(
            f"k{k}/sooner", f"k = {k}, {most:,} examples: sparse points first are sooner; hazard ratio to all points "
            "at once (log-rank)", None, Region(low=1.5), partial(hazard, settings, k, most), null=Null("alike", 1.0),
        )  # fmt: skip
        yield Claim(
            f"k{k}/fewer", f"k = {k}, {least:,} examples, too few for all points at once: the share of seeds that "
            "learn is larger with sparse points first; hazard ratio", None, Region(low=1.0001),
            partial(hazard, settings, k, least), null=Null("alike", 1.0),
        )  # fmt: skip


def times(k: int, sample: int, way: str, table: pd.DataFrame) -> CensoredTimes:
    """When the runs learned, or how long they were watched."""
    rows = table[(table.k == k) & (table.examples == sample) & (table.way == way)]
    return CensoredTimes(rows.steps.to_numpy(float), rows.outcome.to_numpy() == "learned")


def share(k: int, sample: int, way: str, table: pd.DataFrame) -> Measured:
    return fraction(times(k, sample, way, table).learned)


def hazard(settings: Settings, k: int, sample: int, table: pd.DataFrame) -> Measured:
    found = [times(k, sample, way, table) for way in WAYS]
    first, second = (np.where(each.learned, each.step, np.inf) for each in found)
    ratio, interval = log_rank(first, second, horizon=settings.steps)
    return Measured(ratio, interval) if np.isfinite(ratio) else Measured(1.0, (0.0, np.inf))


def plot(settings: Settings, table: pd.DataFrame) -> Figures:
    """The share that has learned over steps, for each degree and size of sample."""
    figure, axes = panels(len(settings.degrees), len(settings.samples), width=2.8, height=2.1)
    for (i, k), (j, sample) in itertools.product(enumerate(settings.degrees), enumerate(settings.samples)):
        axis = axes[i, j]
        for number, (way, words) in enumerate(WAYS.items()):
            found = times(k, sample, way, table).survival()
            steps = np.concatenate([[0.0], found.step, [settings.steps]])
            learned = 1 - np.concatenate([[1.0], found.share, found.share[-1:] if len(found.share) else [1.0]])
            style = ("-", "--")[number]
            axis.step(steps, learned, where="post", color=INKS[number], linestyle=style, label=words)
        dress(
            axis, title=f"k = {k}, {sample:,} examples", ylim=(-0.03, 1.03), xlim=(0, settings.steps),
            xlabel="step" if i == len(settings.degrees) - 1 else "", ylabel="share that learned" if j == 0 else "",
            legend="center right" if i == j == 0 else None,
        )  # fmt: skip
    return shown("curriculum", figure, f"Sparse points first: parity of k of {settings.d} bits, {settings.seeds} seeds")
