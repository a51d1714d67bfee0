"""Figure 3 of hidden-progress: loss and accuracy are flat while the weights move, and a measure shows it.

A single sinusoid neuron (a bias, no second layer) learns the parity of 3 out of 50 bits with hinge loss. Left and
centre: loss and accuracy above, all weights below. The paper does not say how the two differ; here the batch sizes do,
512 and 32. Right: the progress measure rho = max |w_t - w_0|, for the parity above, for labels of pure noise below. If
weights did random walks, rho would grow like the square root of t; the drift of the relevant ones makes it grow faster.

Each run on noise has the start and the points of a run on the parity. "Half-way" is half of the time to learn of a run.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from ...figures import INKS, Figures, label_edges, panels
from ...training.plans import Plan
from ..base import Claim, Measured, Null, Region
from ..measures import bootstrap, fraction
from .shared import progress
from .shared.measures import median_within
from .shared.progress import CASES, RED, Case, K, N, Runs, flat, leaves, of_milestones, read as read

LARGE, SMALL = (next(case for case in CASES if case.name == name) for name in ("neuron/B512", "neuron/B32"))


SETTINGS = {"quick": progress.Settings(seeds=24), "paper": progress.Settings(seeds=100)}


def plan(settings: progress.Settings) -> Iterator[Plan]:
    for case in (LARGE, SMALL):
        yield from case.plans(settings.seeds)


def claims(settings: progress.Settings) -> Iterator[Claim]:
    yield from map(flat, (LARGE, SMALL))
    claim = of_milestones(LARGE)
    text = "rho is above what 95% of the runs on noise have at that step; the fraction of seeds"
    above = lambda runs: fraction(runs.beyond > 1)
    null = Null("labels of pure noise", 1 - progress.BAND)
    yield claim("distinguishable", f"half-way to learning, {text}", Region(low=0.5), above, null=null)
    text = "half-way to learning, the weight that has moved most is a relevant one; the fraction of seeds"
    chance = Null("chance", K / N)
    yield claim("relevant", text, Region(low=0.5), lambda runs: fraction(runs.leads), null=chance)
    yield leaves(LARGE)
    text = "at the end, drift has outgrown noise; rho over the median rho of the runs on noise, median over seeds"
    null = Null("labels of pure noise", 1)
    yield claim("drift", text, Region(low=4), lambda runs: median_within(runs.at_end), null=null)
    text = "labels of pure noise: rho grows like the square root of t; the slope of the logarithms"
    name, statement = f"{LARGE.name}/noise/root", f"{LARGE.words}: {text}"
    measure, null = lambda data: growth_on_noise(data.curves[LARGE.name]), Null("a steady drift", 1)
    yield Claim(name, statement, None, Region(0.4, 0.6), measure, null=null)


def growth_on_noise(curves: pd.DataFrame) -> Measured:
    """The slope of the logarithm of the mean over runs against the logarithm of the step; a bootstrap over seeds."""
    noise = curves[(curves.labels == "noise") & (curves.step > 0)]
    walks = noise.pivot(index="seed", columns="step", values="progress")
    steps = np.log(walks.columns.to_numpy(float))
    return bootstrap(walks.to_numpy(), lambda rows: float(np.polyfit(steps, np.log(rows.mean(axis=0)), 1)[0]))


def plot(settings: progress.Settings, data: Runs) -> Figures:
    """Loss and accuracy above weights, twice; the progress measure above that of noise."""
    figure, axes = panels(2, 3, width=3.1, height=2.1)
    for column, case in enumerate((LARGE, SMALL)):
        draw_run(axes[:, column], case, data.curves[case.name])
    draw_progress(axes[:, 2], data.curves[LARGE.name])
    label_edges(axes, "step", "weights")
    axes[0, 0].set_ylabel("loss, accuracy")
    figure.suptitle(
        f"A sinusoid neuron learns the parity of {K} out of {N} bits: the weights move before the loss does"
    )
    return {"figure3": figure}


def draw_run(axes: np.ndarray, case: Case, curves: pd.DataFrame) -> None:
    """One run: what is seen from outside, and what moves inside."""
    run = progress.drawn_run(curves, axes)
    outside, inside = axes
    outside.plot(run.step, run.fresh_loss, color=INKS[0], label="loss")
    outside.plot(run.step, 1 - run.fresh_error, "--", color=INKS[1], label="accuracy")
    outside.set(ylim=(0, 1.3), title=f"batch {case.batch}, rate {case.rate:g}")
    outside.legend(fontsize=7, loc="upper left", ncols=2)
    progress.draw_weights(inside, run, progress.noise_band(curves))
    inside.set_title("weights (colour: relevant; shaded: noise band)", fontsize=8)


def draw_progress(axes: np.ndarray, curves: pd.DataFrame) -> None:
    """rho of every run; the parity's run ends when it has learned."""
    reach = float(np.quantile(curves[(curves.labels == "parity")].groupby("run").step.max(), 0.8))
    mean = curves[(curves.labels == "noise") & (curves.step > 0)].groupby("step").progress.mean()
    root = np.sqrt(mean.index.to_numpy(float))
    fitted = float(np.sum(root * mean) / np.sum(root * root)) * root
    for axis, labels, title in zip(axes, ("parity", "noise"), ("parity", "random labels"), strict=True):
        for seed, run in curves[curves.labels == labels].groupby("seed"):
            color, width, order = (RED, 1.6, 3) if seed == progress.drawn_seed(curves) else ("0.65", 0.6, 2)
            axis.plot(run.step, run.progress, color=color, linewidth=width, zorder=order)
        label = "$\\propto \\sqrt{t}$, fitted to noise"
        axis.plot(mean.index, fitted, "--", color=INKS[0], linewidth=1.2, zorder=4, label=label)
        axis.set(xlim=(0, reach), title=f"$\\rho$, {title}", ylabel="largest movement")
        axis.xaxis.set_major_locator(MaxNLocator(5))
    axes[1].legend(fontsize=7, loc="upper left")
    axes[1].set_ylim(0, 3 * float(mean[mean.index <= reach].max()))
