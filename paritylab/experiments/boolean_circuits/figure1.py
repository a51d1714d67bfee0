"""Figure 1 of boolean-circuits: a parity of 5 out of 128 bits, uniform bits against bits that are slightly biased.

A depth-two ReLU network of 128 units is trained with Adam on the parity of k = 5 of n = 128 bits. With uniform
bits the test accuracy stays at one half; with P[x_i = 1] = 0.6 for every bit it goes to 1.

The paper gives neither rate, batch size nor number of steps: here Adam with rate 0.001 and fresh batches of 128,
hinge loss, the default initialization. The test set has 100,000 fresh points at every record. The second panel,
which the paper does not have, runs over p and over k: each parity has a bias at which it becomes learnable.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import paritylab as pl

from ...figures import INKS, STYLES, panels
from ...names import make_optimizer
from ...statistics import wilson_interval
from ...sweep import Results
from ...training.plans import Plan
from ..base import Claim, Measured, Region

N, K, WIDTH = 128, 5, 128
P = 0.6
TEST = 100_000


@dataclass(frozen=True)
class Settings:
    seeds: int
    steps: int
    sweep: tuple[float, ...]
    """Probabilities of a bit for the second panel."""
    degrees: tuple[int, ...]
    sweep_seeds: int
    sweep_steps: int
    batch: int = 128
    rate: float = 1e-3
    every: int = 2000


SETTINGS = {
    "quick": Settings(
        seeds=10, steps=30_000, sweep=(0.5, 0.55, 0.6, 0.7), degrees=(3,), sweep_seeds=4, sweep_steps=6_000
    ),
    "paper": Settings(
        seeds=10,
        steps=40_000,
        sweep=tuple(np.round(np.arange(0.5, 0.71, 0.02), 2).tolist()),
        degrees=(2, 3, 4, 5, 6),
        sweep_seeds=25,
        sweep_steps=40_000,
    ),
}


def plan(settings: Settings) -> Iterator[Plan]:
    def of(k: int, p: float, panel: str, seeds: int, steps: int) -> Plan:
        return pl.plan(
            pl.Product(pl.Parity(N, support=range(k)), 2 * p - 1),
            pl.MLP(WIDTH),
            rate=settings.rate,
            batch=settings.batch,
            optimizer=make_optimizer("adam"),
            seeds=seeds,
            steps=steps,
            every=100,
            records=(pl.FreshError(TEST),),
            record_every=settings.every,
            labels={"panel": panel, "p": p, "k": k},
        )

    for p in (0.5, P):
        yield of(K, p, "figure", settings.seeds, settings.steps)
    for k in settings.degrees:
        for p in settings.sweep:
            yield of(k, p, "sweep", settings.sweep_seeds, settings.sweep_steps)


def claims(settings: Settings) -> list[Claim]:
    """No verdict is known yet."""
    return [replace(claim, recorded={}) for claim in _claims(settings)]


def _claims(settings: Settings) -> list[Claim]:
    runs = f"n = {N}, k = {K}, {settings.seeds} seeds, {settings.steps:,} steps"
    low = settings.degrees[0]
    return [
        Claim(
            "biased",
            f"with p = {P} training converges to a perfect solution ({runs}); the least test accuracy over seeds, on "
            f"{TEST:,} points",
            1.0,
            Region(low=0.999),
        ),
        Claim(
            "uniform",
            f"with p = 0.5 training fails completely ({runs}); the largest distance of a seed's last test accuracy "
            "from one half",
            0.5,
            Region(0.0, 0.01),
        ),
        Claim(
            "transition",
            f"bias makes the parity of {low} bits learnable ({settings.sweep_steps:,} steps): the fraction of seeds at "
            f"p = {max(settings.sweep)} with an accuracy of at least 99.9%",
            None,
            Region(low=0.5),
        ),
    ]


def last_accuracy(results: Results) -> pd.DataFrame:
    """The accuracy of each run at its last record; one that learned is at its end then."""
    curves = results.curves()
    last = curves.sort_values("step").groupby("run").last()
    return last.assign(accuracy=1 - last.fresh_error)


def measure(settings: Settings, results: Results) -> dict[str, Measured]:
    """Intervals of single accuracies are those of 100,000 points; over seeds the worst is taken."""
    last = last_accuracy(results)
    figure = last[last.panel == "figure"]
    interval = lambda accuracy: wilson_interval(round(accuracy * TEST), TEST)
    least = float(figure[figure.p == P].accuracy.min())
    uniform = figure[figure.p == 0.5].accuracy
    farthest = float(uniform.iloc[int((uniform - 0.5).abs().to_numpy().argmax())])
    low, high = interval(farthest)
    ends = sorted((abs(low - 0.5), abs(high - 0.5)))
    away = Measured(abs(farthest - 0.5), (0.0 if low <= 0.5 <= high else ends[0], ends[1]))
    sweep = last[(last.panel == "sweep") & (last.k == settings.degrees[0]) & (last.p == max(settings.sweep))]
    learned = int((sweep.accuracy >= 0.999).sum())
    return {
        "biased": Measured(least, interval(least)),
        "uniform": away,
        "transition": Measured(learned / len(sweep), wilson_interval(learned, len(sweep))),
    }


def plot(settings: Settings, results: Results) -> dict[str, Figure]:
    """The paper's figure, and accuracy over p."""
    figure, axes = panels(1, 2, width=3.8, height=3.0)
    draw_curves(axes[0, 0], results.curves())
    draw_transition(axes[0, 1], last_accuracy(results), settings)
    figure.suptitle(f"Parities on {N} bits: a slight bias makes them learnable", fontsize=11)
    return {"figure1": figure}


def draw_curves(axis: Axes, curves: pd.DataFrame) -> None:
    curves = curves[curves.panel == "figure"]
    for i, (p, words) in enumerate(((P, "biased, p = 0.6"), (0.5, "uniform, p = 0.5"))):
        here = curves[curves.p == p]
        for _, run in here.groupby("run"):
            axis.plot(run.step, 1 - run.fresh_error, color=INKS[i], linewidth=0.5, alpha=0.5)
        middle = here.groupby("step").fresh_error.median()
        axis.plot(middle.index, 1 - middle, color=INKS[i], linestyle=STYLES[i], linewidth=2, label=words)
    axis.set(xlabel="step", ylabel="test accuracy", ylim=(0.45, 1.02), title=f"k = {K}: thin lines are seeds")
    axis.legend(loc="center right", fontsize=8)


def draw_transition(axis: Axes, last: pd.DataFrame, settings: Settings) -> None:
    sweep = last[last.panel == "sweep"]
    for i, (k, rows) in enumerate(sweep.groupby("k")):
        fractions, bars = [], []
        for _, here in rows.groupby("p"):
            learned = int((here.accuracy >= 0.999).sum())
            low, high = wilson_interval(learned, len(here))
            fractions.append(learned / len(here))
            bars.append((fractions[-1] - low, high - fractions[-1]))
        axis.errorbar(
            sorted(rows.p.unique()),
            fractions,
            np.maximum(np.array(bars).T, 0),
            color=INKS[i % len(INKS)],
            linestyle=STYLES[i % len(STYLES)],
            marker="o",
            markersize=3,
            capsize=2,
            linewidth=1,
            label=f"k = {k}",
        )
    axis.set(xlabel="P[a bit is 1]", ylabel="fraction of seeds with accuracy ≥ 99.9%", ylim=(-0.05, 1.05))
    axis.set_title(f"after {settings.sweep_steps:,} steps (bars: 95%)")
    axis.legend(fontsize=8, loc="upper left")
