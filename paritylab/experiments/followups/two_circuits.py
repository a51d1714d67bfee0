"""Grokking as a competition of two circuits (Merrill, Tsilivis, Shukla, arXiv 2303.11873).

A two-layer ReLU network of 1,000 units learns the (40, 3)-parity from N = 1,000 examples: hinge loss, SGD of rate 0.1,
weight decay 0.01 on all parameters (PyTorch's convention), batch 32, 300 epochs, no output bias. It fits its sample
long before it is right elsewhere; then a few units grow, all others decay, and those few alone compute what the
network computes.

The paper has 5 seeds and measures faithfulness on 100 test points. Here errors and faithfulness are measured on 8,192
fresh points, for subnetworks of the units with the longest incoming weights (bias left out), against as many units
chosen at random. The paper looks for the least subnetwork with the training accuracy of the whole; ours is the least
on a grid that gives the sign of the whole network on 98% of fresh points. The quick scale has 200 units in place of
1,000.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib.axes import Axes

import paritylab as pl

from ...figures import INKS, Figures, panels
from ...sweep import Results
from ..base import Claim, Measured, Null, Region
from ..drawing import dress, shown
from ..measures import UNKNOWN, fraction, mean, median
from .shared.recipes import WithoutOutputBias

N, K, SAMPLE, BATCH = 40, 3, 1000, 32
EPOCH = SAMPLE // BATCH + 1
"""Steps of an epoch, rounded up."""
FITTED = 0.02
"""The paper calls a sample fitted from an accuracy of 98% on; the same is asked of fresh points."""
FAITHFUL = 0.02
FEW = 6


@dataclass(frozen=True)
class Settings:
    width: int
    seeds: int
    epochs: int
    every: int
    """Epochs between two records."""
    keep: tuple[int, ...]
    """Numbers of units whose subnetworks are tried."""


SETTINGS = {
    "quick": Settings(width=200, seeds=16, epochs=300, every=5, keep=(3, 6, 12, 25, 50, 100, 200)),
    "paper": Settings(width=1000, seeds=1000, epochs=300, every=5, keep=(3, 6, 12, 25, 50, 100, 200, 500, 1000)),
}


def plan(settings: Settings) -> Iterator[pl.Plan]:
    every = EPOCH * settings.every
    records = [
        pl.training.SampleError(),
        pl.training.PrunedErrors(settings.keep),
        pl.training.PrunedErrors(settings.keep, at_random=True),
        pl.training.UnitNorms(),
    ]
    rates = {"hidden": 0.1, "output.weight": 0.1}
    yield pl.plan(
        pl.RandomTask(pl.random_parity, (N, K)), WithoutOutputBias(pl.MLP(settings.width)), rate=rates, batch=BATCH,
        sample=SAMPLE, steps=EPOCH * settings.epochs // every * every, every=every, validation=0, seeds=settings.seeds,
        decay=pl.training.Decay({"hidden": 0.01, "output.weight": 0.01}, convention="rate"),
        records=pl.training.Recording(records, every),
    )  # fmt: skip


@dataclass(frozen=True)
class Data:
    """Curves of all runs: rows are runs, columns recorded epochs."""

    epochs: np.ndarray
    training: np.ndarray
    fresh: np.ndarray
    needed: np.ndarray
    """The least number of units kept that is faithful."""
    needed_at_random: np.ndarray
    six: np.ndarray
    """The share of fresh points on which six units have the whole network's sign, at the end; a number for each run."""
    six_at_random: np.ndarray
    largest: np.ndarray
    """The mean norm of the six longest units."""
    others: np.ndarray
    """The median norm of all units."""
    fitted: np.ndarray
    """The first recorded epoch at which the sample is fitted; infinite if there is none."""
    learned: np.ndarray
    """The first one at which fresh points are, too."""

    def at(self, values: np.ndarray, epoch: np.ndarray) -> np.ndarray:
        """The value of each run at an epoch of its own; NaN where that is infinite."""
        place = np.searchsorted(self.epochs, np.where(np.isfinite(epoch), epoch, self.epochs[-1]))
        found = values[np.arange(len(values)), place].astype(float)
        return np.where(np.isfinite(epoch), found, np.nan)


def read(settings: Settings, results: Results) -> Data:
    curves = results.curves().sort_values(["seed", "step"])
    runs = curves.groupby("seed", sort=False)
    rows = lambda name: np.stack([np.stack(list(each)) for _, each in runs[name]])
    training, pruned, random, norms = (
        rows(name) for name in ("sample_error", "pruned_errors", "random_errors", "unit_norms")
    )
    epochs = np.unique(curves.step) / EPOCH
    keep = np.array(settings.keep)
    needed = lambda errors: keep[np.argmax(errors[..., 1] <= FAITHFUL, axis=2)]
    fresh = pruned[:, :, -1, 0]
    six, at_random = (1 - each[:, -1, settings.keep.index(FEW), 1] for each in (pruned, random))
    first = lambda low: np.where(low.any(axis=1), epochs[low.argmax(axis=1)], np.inf)
    return Data(
        epochs, training, fresh, needed(pruned), needed(random), six, at_random,
        norms[..., :FEW].mean(axis=2), np.median(norms, axis=2), first(training <= FITTED), first(fresh <= FITTED),
    )  # fmt: skip


def claims(settings: Settings) -> Iterator[Claim]:
    yield Claim(
        "learns", "after all epochs fresh points are right, too; the fraction of seeds with an error of at most 2%",
        1.0, Region(low=0.9), lambda data: fraction(np.isfinite(data.learned)), null=Null("chance", 0.0),
    )  # fmt: skip
    yield Claim(
        "late", "the sample is fitted long before fresh points are (grokking); median epoch of the latter over that "
        "of the former", None, Region(low=1.5), delay, null=Null("at the same time", 1.0),
    )  # fmt: skip
    yield Claim(
        "sparse", "in the end few units are needed for what the network computes; their median share of all", None,
        Region(high=0.1), partial(share_needed, settings), null=Null("as many as are needed at random", 1.0),
    )  # fmt: skip
    yield Claim(
        "falls", "the number of units that is needed falls from the epoch at which the sample is fitted to the end; "
        "median ratio of before to after", None, Region(low=4), fall, null=Null("no fall", 1.0),
    )  # fmt: skip
    yield Claim(
        "not-any", "as many units chosen at random do not do it: units needed at random over units needed, in the end; "
        "median", None, Region(low=4), against_random, null=Null("any units", 1.0),
    )  # fmt: skip
    yield Claim(
        "grows", "the sparse set's units grow while all others decay: the mean norm of the longest six at the end over "
        "that when the sample is fitted, divided by the same of the median unit; median", None, Region(low=5), parting,
        null=Null("all units alike", 1.0),
    )  # fmt: skip
    yield Claim(
        "faithful", "six units are the network: the fraction of fresh points on which they have its sign, in the end; "
        "mean over seeds that learned", None, Region(low=0.95), faithfulness,
        null=Null("six random units", faithfulness_at_random),
    )  # fmt: skip


def delay(data: Data) -> Measured:
    ratio = data.learned / np.where(np.isfinite(data.fitted), data.fitted, np.nan)
    return median(np.where(np.isnan(ratio), 1.0, ratio))


def share_needed(settings: Settings, data: Data) -> Measured:
    return median(data.needed[:, -1] / settings.width)


def fall(data: Data) -> Measured:
    before = data.at(data.needed, data.fitted)
    return median(np.where(np.isnan(before), 1.0, before / data.needed[:, -1]))


def against_random(data: Data) -> Measured:
    return median(data.needed_at_random[:, -1] / data.needed[:, -1])


def parting(data: Data) -> Measured:
    grown = data.largest[:, -1] / data.at(data.largest, data.fitted)
    left = data.others[:, -1] / data.at(data.others, data.fitted)
    return median(np.where(np.isnan(grown), 1.0, grown / left))


def faithfulness(data: Data) -> Measured:
    there = np.isfinite(data.learned)
    return mean(data.six[there]) if there.sum() > 1 else UNKNOWN


def faithfulness_at_random(data: Data) -> float:
    there = np.isfinite(data.learned)
    return float(data.six_at_random[there].mean()) if there.any() else 0.5


def plot(settings: Settings, data: Data) -> Figures:
    """Errors, units needed, and norms over epochs: medians with the middle half of the seeds."""
    figure, axes = panels(1, 3, width=3.1, height=2.6)
    first, second, third = axes[0]
    band(first, data.epochs, data.training, 0, "on the sample")
    band(first, data.epochs, data.fresh, 1, "on fresh points")
    dress(first, xlabel="epoch", ylabel="error", title="fitted first, right later", legend="upper right")
    band(second, data.epochs, data.needed, 0, "longest units")
    band(second, data.epochs, data.needed_at_random, 1, "random units")
    title = f"units for 98% of the signs, of {settings.width}"
    dress(second, xlabel="epoch", ylabel="units needed", yscale="log", title=title, legend="lower left")
    band(third, data.epochs, data.largest, 0, "longest six units")
    band(third, data.epochs, data.others, 1, "median unit")
    dress(third, xlabel="epoch", ylabel="length of incoming weights", yscale="log", title="few grow, all others decay",
          legend="lower left")  # fmt: skip
    title = (
        f"Parity of {K} of {N} bits from {SAMPLE:,} examples: medians of {len(data.training)} seeds, and middle halves"
    )
    return shown("two-circuits", figure, title)


def band(axis: Axes, x: np.ndarray, rows: np.ndarray, number: int, label: str) -> None:
    low, middle, high = np.quantile(rows, (0.25, 0.5, 0.75), axis=0)
    axis.fill_between(x, low, high, color=INKS[number], alpha=0.2, linewidth=0)
    axis.plot(x, middle, color=INKS[number], linestyle=("-", "--")[number], label=label)
