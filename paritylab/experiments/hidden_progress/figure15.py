"""Figure 15 of hidden-progress: training on finite samples, size of the sample against weight decay.

A grid of training curves: m falls from left to right, the decay lambda rises from top to bottom. With a large sample
there is no gap between train and test error, with a small one the network does not learn, in between it groks. Weight
decay trades generalization against optimization: a larger one lets the network learn from fewer examples, but too large
a one keeps it from fitting anything (bottom row). The paper prints neither m nor lambda; ours, and the convention of
decay, are those of `finite_samples`, at quick scale with n = 30. The runs at the middle decay are those of figure 4.
Without decay none of the three sizes is learned within the steps of the quick scale, though all are fitted.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ...figures import panels
from ...sweep import Results
from ...training.plans import Plan
from ..base import Claim, Measured, Region, Scale, Verdict
from . import finite_samples
from .finite_samples import K, Settings, fraction, learned_of, median

SETTINGS = {
    "quick": Settings(30, (1000, 500, 200), (0.0, 0.01, 0.1), seeds=12, steps=20_000, record_every=100),
    "paper": Settings(
        50,
        (10_000, 3000, 2000, 1500, 800, 300),
        (0.0, 0.001, 0.003, 0.01, 0.03, 0.1),
        seeds=25,
        steps=200_000,
        record_every=200,
        lanes=128,
    ),
}
GOOD_DECAY = 0.01
MIDDLE = {30: 500, 50: 1500}
"""By n, the sample size at which the rows are compared."""

RECORDED: Mapping[str, Verdict] = {}
"""Verdicts at quick scale other than that the claim holds."""


def plan(settings: Settings) -> Iterator[Plan]:
    return finite_samples.plan(settings)


def claims(settings: Settings) -> list[Claim]:
    large, middle, small = settings.samples[0], MIDDLE[settings.n], settings.samples[-1]
    least, most = settings.decays[0], settings.decays[-1]
    texts = [
        ("large/together", f"m = {large:,}, decay {GOOD_DECAY}: no gap; the time to zero test error over that to zero "
         "train error, median over seeds", Region(high=2)),
        ("middle/groks", f"m = {middle:,}, decay {GOOD_DECAY}: groks; the same quotient, median over the seeds that "
         "learn", Region(low=2)),
        ("small/fails", f"m = {small:,}: too small at every decay; the largest fraction of seeds that learn",
         Region(high=0.25)),
        ("middle/with-decay", f"m = {middle:,}, decay {GOOD_DECAY}: learns; the fraction of seeds", Region(low=0.5)),
        ("middle/without-decay", f"m = {middle:,}, decay {least:g}: fits its sample and does not learn; the fraction "
         "of seeds that learn", Region(high=0.25)),
        ("middle/fits-without-decay", f"m = {middle:,}, decay {least:g}: the fraction of seeds that fit their sample",
         Region(low=0.5)),
        ("decay-too-large", f"decay {most}: the network does not even fit its sample, at any m; the largest fraction "
         "of seeds that do", Region(high=0.25)),
    ]  # fmt: skip
    return [claim(*each) for each in texts]


def claim(name: str, statement: str, region: Region) -> Claim:
    recorded: Mapping[Scale, Verdict] = {"quick": RECORDED.get(name, "holds")}
    return Claim(name, statement, None, region, recorded)


def measure(settings: Settings, results: Results) -> dict[str, Measured]:
    """Wilson's interval of each fraction; order statistics for each median."""
    runs = finite_samples.fits(results)
    large, middle, small = settings.samples[0], MIDDLE[settings.n], settings.samples[-1]
    least, most = settings.decays[0], settings.decays[-1]

    def at(m: int, decay: float) -> pd.DataFrame:
        return runs[(runs.m == m) & np.isclose(runs.decay, decay)]

    def finite(times: pd.Series) -> Measured:
        return fraction(np.isfinite(times.to_numpy()))

    quotient = lambda chosen: median((chosen.test_time / chosen.train_time).to_numpy())
    return {
        "large/together": quotient(at(large, GOOD_DECAY)),
        "middle/groks": quotient(learned_of(at(middle, GOOD_DECAY))),
        "small/fails": max(finite(at(small, decay).test_time) for decay in settings.decays),
        "middle/with-decay": finite(at(middle, GOOD_DECAY).test_time),
        "middle/without-decay": finite(at(middle, least).test_time),
        "middle/fits-without-decay": finite(at(middle, least).train_time),
        "decay-too-large": max(finite(at(m, most).train_time) for m in settings.samples),
    }


def plot(settings: Settings, results: Results) -> dict[str, Figure]:
    """Rows by decay, columns by m, as in the paper."""
    rows, columns = len(settings.decays), len(settings.samples)
    figure, axes = panels(rows, columns, width=2.4, height=1.7)
    curves, runs = results.curves(), finite_samples.fits(results)
    for row, decay in zip(axes, settings.decays, strict=True):
        for axis, m in zip(row, settings.samples, strict=True):
            here = lambda table, m=m, decay=decay: table[(table.m == m) & np.isclose(table.decay, decay)]
            finite_samples.draw(axis, here(curves), here(runs))
            axis.set_xlim(settings.record_every, settings.steps)
            axis.label_outer()
        row[0].set_ylabel(f"$\\lambda$ = {decay:g}\nerror")
    for axis, m in zip(axes[0], settings.samples, strict=True):
        axis.set_title(f"m = {m:,}")
    for axis in axes[-1]:
        axis.set_xlabel("step")
    finite_samples.draw_legend(axes[0, -1])
    figure.suptitle(f"({settings.n}, {K})-parity: sample size m against weight decay $\\lambda$", fontsize=11)
    return {"figure15": figure}
