"""Figure 4 of boolean-circuits: how much of the class of an image does one small random patch tell?

A ReLU network with two hidden layers of 512 units sees a single k x k patch, anywhere in an image, and names
its class; Adam, batches of 50, 10,000 steps. On ImageNet a 3 x 3 patch gives a top-5 accuracy of 2.6%, where
guessing gives 0.5%: natural images have local correlation.

ImageNet is not here. The experiment takes CIFAR-10's binary files where `--data` or `PARITYLAB_DATA` name a folder
with them, all of it or a sample (the figure says which), at quick scale textures that were made up otherwise, which
show that it runs and nothing about natural images. Of ten classes the best five by chance hold the right one half
of the time. The rate is 0.001; pixels are scaled to [-1, 1]; accuracy is that on fresh patches of test images.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

import paritylab as pl

from ...distributions.images import ImageSet, find_cifar10, made_up_images
from ...figures import INKS, one_panel
from ...sweep import Results
from ...training.plans import Plan
from ..base import Claim, Measured, Region
from ..drawing import dress, error_bars
from ..measures import proportion

TEST = 20_000
PAPER = {"top_5": 0.026, "chance": 0.005}
"""ImageNet, 3 x 3 patches."""


@dataclass(frozen=True)
class Settings:
    sides: tuple[int, ...]
    seeds: int
    steps: int
    widths: tuple[int, ...] = (512, 512)
    batch: int = 50
    made_up: bool = False
    """Whether made-up images will do."""


SETTINGS = {
    "quick": Settings(sides=(1, 3, 7, 15), seeds=1, steps=2_000, made_up=True),
    "paper": Settings(sides=(1, 3, 5, 7, 9, 11, 15, 21, 27, 32), seeds=5, steps=10_000),
}


@cache
def images(made_up: bool) -> ImageSet:
    """CIFAR-10 if it is there."""
    return made_up_images() if made_up and find_cifar10() is None else pl.distributions.cifar10()


def plan(settings: Settings) -> Iterator[Plan]:
    known, seeds, steps = images(settings.made_up), settings.seeds, settings.steps
    network = pl.networks.PatchScores(settings.widths, len(known.classes))
    records = pl.training.Recording([pl.training.TopAccuracy(top, TEST) for top in (1, 5)], steps)
    how: dict[str, Any] = {"rate": 1e-3, "batch": settings.batch, "optimizer": "adam", "loss": pl.training.logistic}
    how |= {"seeds": seeds, "lanes": seeds, "steps": steps, "records": records}
    for side in settings.sides:
        task, labels = pl.distributions.RandomPatches(known, side), {"side": side, "data": known.name}
        yield pl.plan(task, network, every=100, validation=0, labels=labels, **how)


def read(settings: Settings, results: Results) -> pd.DataFrame:
    """Accuracies at the end by the side of the patch, means over seeds."""
    last = results.curves().sort_values("step").groupby("run").last()
    return last.groupby("side")[["top_1", "top_5"]].mean()


def claims(settings: Settings) -> Iterator[Claim]:
    """Wilson's intervals over test images; of a difference, the sum of both."""
    name = images(settings.made_up).name if settings.made_up or find_cifar10() else "CIFAR-10"
    on, chance = f"on {name}, {settings.steps:,} steps", 1 / 10
    first, last = settings.sides[1], settings.sides[-1]

    def over_chance(data: pd.DataFrame, column: str, best: int) -> Measured:
        by = best / len(images(settings.made_up).classes)
        value, (low, high) = accuracy(float(data.loc[3, column]), settings)
        return Measured(value / by, (low / by, high / by))

    def gain(data: pd.DataFrame) -> Measured:
        ends = (accuracy(float(data.loc[side, "top_1"]), settings) for side in (first, last))
        (small, (low_s, high_s)), (large, (low_l, high_l)) = ends
        return Measured(large - small, (low_l - high_s, high_l - low_s))

    statement = f"a 3 x 3 patch tells something of the class ({on}); top-1 accuracy over chance, {chance:g}"
    yield Claim("3x3/top1", statement, None, Region(low=1.0), lambda data: over_chance(data, "top_1", 1))
    statement = f"so does its top-5 accuracy ({on}), over chance, {5 * chance:g}; on ImageNet 2.6% over 0.5%"
    measure = lambda data: over_chance(data, "top_5", 5)
    yield Claim("3x3/top5", statement, PAPER["top_5"] / PAPER["chance"], Region(low=1.0), measure)
    statement = f"larger patches tell more ({on}); top-1 accuracy at {last} x {last} less that at {first} x {first}"
    yield Claim("grows", statement, None, Region(low=0.0), gain)


def accuracy(value: float, settings: Settings) -> Measured:
    """Patches of one image are alike: as many trials as there are test images, whatever the patches and seeds."""
    trials = min(TEST, len(images(settings.made_up).test.classes))
    return Measured(value, proportion(round(value * trials), trials).interval)


def plot(settings: Settings, found: pd.DataFrame) -> dict[str, Figure]:
    """Accuracy over the side of the patch, beside chance."""
    known = images(settings.made_up)
    figure, axis = one_panel(width=5.0, height=3.3)
    for i, (column, words, best) in enumerate((("top_5", "top 5", 5), ("top_1", "top 1", 1))):
        values, bars = error_bars([accuracy(value, settings) for value in found[column]])
        style: dict[str, Any] = {"fmt": "so"[i] + "-", "color": INKS[i], "markersize": 4, "linewidth": 1}
        axis.errorbar(found.index, 100 * values, 100 * bars, label=words, **style)
        chance = 100 * best / len(known.classes)
        axis.axhline(chance, color=INKS[i], linewidth=0.8, linestyle=":", label=f"{words}, by chance")
    axis.set_xticks(settings.sides)
    axis.set(xlabel="side of the patch (pixels)", ylabel="accuracy on test images (%)", ylim=(0, 100))
    title = f"The class of an image from one random patch, {settings.steps:,} steps\nData: {known.name}"
    dress(axis, title=title, legend="upper left", size=8, columns=2)
    return {"figure4": figure}
