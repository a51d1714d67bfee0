"""Figure 13 of hidden-progress: loss, weights and the progress measure for a sinusoid neuron and a small MLP.

The (50, 3)-parity is learned by a single sinusoid neuron (a bias, no second layer) at several batch sizes and by a ReLU
network of width 10, with hinge loss. Each panel has the loss and, in red, rho = max |w_t - w_0| over all first-layer
weights; below it all of these weights, those of the three relevant coordinates in colour. The paper notes that rho is
clearly distinguishable from the maximum of unbiased random walks even while loss and accuracy show no progress.

Which batch sizes other than 1 and 4, and which rates, is not printed. The paper averages the loss of batches of 1 and 4
over 16 and 4 steps; here every recorded loss is that of 1,024 fresh points. The controls have the same start and the
same points, and labels of pure noise; the band is what 95% of them stay below.

At batches of 1 and 32 the relevant weights leave the band before the error drops, but not long before it. Why is tested
on a grid of batch sizes at one rate: where noise adds up like sqrt(t / batch) and drift like t, drift wins after a time
of the order of 1 / batch.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from ...figures import INKS, Figures, label_edges, panels
from ...training.plans import Plan
from ..base import Claim, Null, Region
from ..measures import fraction
from .shared import progress
from .shared.curves import PLATEAU
from .shared.progress import (
    BAND,
    CASES,
    GRID,
    RED,
    TRAINED,
    Case,
    K,
    N,
    Runs,
    at_different_times,
    flat,
    leaves,
    of_milestones,
    read as read,
    slope_of_leaves,
)

SETTINGS = {"quick": progress.Settings(seeds=16), "paper": progress.Settings(seeds=100)}

LATE = (
    "Noise adds up like sigma sqrt(t / batch) and drift like beta t, so that drift wins only after a time of the order "
    "of 1 / batch. At batches of 32 and less that is close to the drop itself: the weights are outside of the band "
    "before the error falls (`distinguishable`), but not long before. That they leave it long before is our reading of "
    "the figure; the text says that rho is clearly distinguishable from noise."
)


def plan(settings: progress.Settings) -> Iterator[Plan]:
    for case in TRAINED:
        yield from case.plans(settings.seeds)


def claims(settings: progress.Settings) -> Iterator[Claim]:
    text = f"just before the error is below {PLATEAU}, rho is above what 95% of the controls have at that step"
    above = lambda runs: fraction(runs.before_drop > 1)
    for case in CASES:
        yield flat(case)
        null = Null("labels of pure noise", 1 - BAND)
        yield of_milestones(case)(
            "distinguishable", f"{text}; the fraction of seeds", Region(low=0.5), above, null=null
        )
        yield leaves(case, *((LATE, ("account/batch",)) if case.name != "neuron/B512" else ()))
    yield from (at_different_times(case) for case in CASES if case.neurons > 1)
    text = (
        "sinusoid neuron, rate 0.02, batches of 32, 128, 512: drift wins over noise after a time of the order of 1 / "
    )
    text += (
        "batch; the slope of the logarithm of the step at which a relevant weight leaves the noise band, over that of "
    )
    text += "the drop, against the logarithm of the batch size"
    null = Null("a step that does not depend on the batch", 0)
    measure = lambda data: slope_of_leaves(GRID, data)
    yield Claim("account/batch", text, None, Region(-1.5, -0.2), measure, theory=-1.0, null=null)


def plot(settings: progress.Settings, data: Runs) -> Figures:
    """Two panels for each case: loss and rho above the weights."""
    figure, axes = panels(4, 3, width=3.2, height=1.7)
    for i, case in enumerate(CASES):
        rows = slice(2 * (i // 3), 2 * (i // 3) + 2)
        draw(axes[rows, i % 3], case, data.curves[case.name])
    label_edges(axes[1::2], y="weights")
    for axis in axes[1::2].flat:
        axis.set_xlabel("step")
    for axis in axes[0::2, 0]:
        axis.set_ylabel("loss", color=INKS[0])
    figure.suptitle(
        f"Learning the parity of {K} out of {N} bits: red, dashed: progress measure $\\rho$ (grey: noise band);\n"
        "coloured weights: relevant coordinates (one colour a neuron in the network); grey weights: all others",
        fontsize=10,
    )
    return {"figure13": figure}


def draw(axes: np.ndarray, case: Case, curves: pd.DataFrame) -> None:
    """One run of a case."""
    run, band = progress.drawn_run(curves, axes), progress.noise_band(curves)
    shown = band[band.index <= run.step.max()]
    loss, weights = axes
    loss.plot(run.step, run.fresh_loss, color=INKS[0], linewidth=1.2)
    loss.set(ylim=(0, 1.25), title=case.words)
    measure_axis = loss.twinx()
    measure_axis.grid(False)
    loss.set_zorder(measure_axis.get_zorder() + 1)  # the loss stays visible before the band
    loss.patch.set_visible(False)
    measure_axis.fill_between(shown.index, 0, shown, color="0.88", linewidth=0)
    measure_axis.plot(run.step, run.progress, "--", color=RED, linewidth=1.2)
    measure_axis.set_ylabel("$\\rho$", color=RED)
    measure_axis.set_ylim(0, None)
    progress.draw_weights(weights, run, band)
    weights.set_ylim(*(1.15 * end for end in extent(run)))


def extent(run: pd.DataFrame) -> tuple[float, float]:
    """The least and the largest weight of a run."""
    weights = np.array(run.weights.tolist())
    return float(weights.min()), float(weights.max())
