"""Figure 4 of boolean-circuits: how much of the class of an image does one small random patch tell?

A ReLU network with two hidden layers of 512 units sees a single k x k patch, anywhere in an image, and names
its class; Adam, batches of 50, 10,000 steps. On ImageNet a 3 x 3 patch gives a top-5 accuracy of 2.6%, where
guessing gives 0.5%: natural images have local correlation.

ImageNet is not here. The experiment takes CIFAR-10's binary files where `--data` or `PARITYLAB_DATA` name a folder
with them, all of it or a sample (claims and the figure say which, with the number of images), at quick scale textures
that were made up otherwise, which show that it runs and nothing about natural images. Top-5 accuracy does not
carry over: of ten classes five hold the right one half of the time, so that no patch could be 5.2 times better than
chance as the paper's is, and already a single pixel, whose colour says sky or grass, gives much of it. What a patch
tells is therefore measured in bits: log2(10) less the log loss on fresh patches of test images, 0 for a guess, and held
against that of a single pixel. The rate is 0.001; pixels are scaled to [-1, 1].
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

import paritylab as pl

from ...distributions.images import ImageSet, find_cifar10, made_up_images
from ...figures import INKS, panels
from ...sweep import Results
from ...training.plans import Plan
from ..base import Claim, Measured, Null, Region
from ..drawing import dress, error_bars, shown
from ..measures import proportion

TEST = 20_000


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
    kept = [pl.training.TopAccuracy(top, TEST) for top in (1, 5)]
    bits = [pl.training.ClassBits(TEST, deviation) for deviation in (False, True)]
    how: dict[str, Any] = {"rate": 1e-3, "batch": settings.batch, "optimizer": "adam", "loss": pl.training.logistic}
    how |= {"seeds": seeds, "lanes": seeds, "steps": steps, "records": pl.training.Recording([*kept, *bits], steps)}
    for side in settings.sides:
        task, labels = pl.distributions.RandomPatches(known, side), {"side": side, "data": known.name}
        yield pl.plan(task, network, every=100, validation=0, labels=labels, **how)


def read(settings: Settings, results: Results) -> pd.DataFrame:
    """Accuracies and bits at the end by the side of the patch, means over seeds."""
    last = results.curves().sort_values("step").groupby("run").last()
    return last.groupby("side")[["top_1", "top_5", "bits", "bits_deviation"]].mean()


def claims(settings: Settings) -> Iterator[Claim]:
    """Intervals over test images; of a difference, as if both were independent."""
    name = images(settings.made_up).name if settings.made_up or find_cifar10() else "CIFAR-10"
    on, last = f"on {name}, {settings.steps:,} steps", settings.sides[-1]
    statement = f"a 3 x 3 patch tells something of the class ({on}); bits beside a uniform guess"
    null = Null("a uniform guess", 0.0)
    yield Claim("3x3/bits", statement, None, Region(low=0.02), lambda data: bits(data, 3, settings), null=null)
    statement = f"and more than one of its pixels ({on}); bits of a 3 x 3 patch less those of a single pixel"
    measure, null = lambda data: more_bits(data, 3, 1, settings), Null("a single pixel", 0.0)
    yield Claim("3x3/pixel", statement, None, Region(low=0.005), measure, null=null)
    statement = f"larger patches tell more ({on}); bits of a {last} x {last} patch less those of a 3 x 3 one"
    measure, null = lambda data: more_bits(data, last, 3, settings), Null("a 3 x 3 patch", 0.0)
    yield Claim("grows", statement, None, Region(low=0.02), measure, null=null)


def trials(settings: Settings) -> int:
    """Patches of one image are alike: as many trials as there are test images, whatever the patches and seeds."""
    return min(TEST, len(images(settings.made_up).test.classes))


def accuracy(value: float, settings: Settings) -> Measured:
    return Measured(value, proportion(round(value * trials(settings)), trials(settings)).interval)


def bits(data: pd.DataFrame, side: int, settings: Settings) -> Measured:
    """What patches of one size tell."""
    value, wide = float(data.bits[side]), 1.96 * float(data.bits_deviation[side]) / math.sqrt(trials(settings))
    return Measured(value, (value - wide, value + wide))


def more_bits(data: pd.DataFrame, large: int, small: int, settings: Settings) -> Measured:
    """The difference of two sizes; that both saw the same images would make its interval shorter."""
    one, other = (bits(data, side, settings) for side in (large, small))
    value, wide = one.value - other.value, math.hypot(one.value - one.interval[0], other.value - other.interval[0])
    return Measured(value, (value - wide, value + wide))


def plot(settings: Settings, found: pd.DataFrame) -> dict[str, Figure]:
    """Bits and accuracy over the side of the patch, beside chance."""
    known = images(settings.made_up)
    figure, axes = panels(1, 2, width=4.0, height=3.2)
    left, right = axes[0]
    style: dict[str, Any] = {"markersize": 4, "linewidth": 1, "capsize": 2}
    values, bars = error_bars([bits(found, side, settings) for side in found.index])
    left.errorbar(found.index, values, bars, fmt="o-", color=INKS[0], label="bits of the class", **style)
    left.axhline(values[0], color="0.5", linewidth=0.8, linestyle="--", label="a single pixel")
    left.axhline(0, color="0.5", linewidth=0.8, linestyle=":", label="a guess")
    for i, (column, words, best) in enumerate((("top_5", "top 5", 5), ("top_1", "top 1", 1))):
        values, bars = error_bars([accuracy(value, settings) for value in found[column]])
        right.errorbar(found.index, 100 * values, 100 * bars, fmt="so"[i] + "-", color=INKS[i], label=words, **style)
        chance = 100 * best / len(known.classes)
        right.axhline(chance, color=INKS[i], linewidth=0.8, linestyle=":", label=f"{words}, by chance")
    names: dict[str, Any] = {"xlabel": "side of the patch (pixels)", "ticks": settings.sides}
    dress(left, ylabel="bits beside a uniform guess", ylim=(-0.03, None), legend="upper left", size=8, **names)
    dress(right, ylabel="accuracy on test images (%)", ylim=(0, 100), legend="upper left", size=8, columns=2, **names)
    left.set_title(f"{settings.steps:,} steps")
    right.set_title(known.name)
    return shown("figure4", figure, "The class of an image from one random patch")
