"""Generalization on the unseen: which interpolator does descent find? (Abbe, Bengio, Lotfi, Rizk, 2301.13105)

A part of the cube is never seen in training: of f2 = x0 x1 the points with x0 = x1 = -1, of f1 = x0 x1 - 1.25 x1 x2 +
1.5 x2 x0 all points with x0 x1 x2 = -1. On the seen part many functions agree with the target; the paper's claim is
that networks tend to the one of least degree: x0 + x1 - 1, and x2 - 1.25 x0 + 1.5 x1. (Random features do so, by
theorem, as n grows; networks that learn features leak towards higher degrees, less so at larger rates.) n = 15, square
loss, SGD.

*Random features, frozen and not frozen.* The public script means to freeze the first layer and writes `required_grad =
False` in place of `requires_grad`, so that W and b are trained, too, at the same rate. Both are run: 2^13 features
ReLU(W x + b) with entries N(0, 1/n), output weights 0, rate 1e-5, batch 256. A mean-field network (width 2^16, rate
1000, batch 64) and an MLP (512-1024-512-64, rate 0.003, batch 64) learn their features. A control trains the features
of the script a hundred times as fast as the output layer.

The quick scale has 2^9 features and a mean field of 2^9 with rates in proportion, and an MLP 64-64 at rate 0.01.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import paritylab as pl

from ...analysis import least_degree_interpolator
from ...cube import cube
from ...distributions import PartOfCube, seen
from ...figures import INKS, Figures, panels
from ...networks import MeanFieldInitialization
from ...sweep import Results
from ...targets import Polynomial
from ..base import IDENTITY, Claim, Measured, Null, Region
from ..drawing import dress, error_bars, shown
from ..measures import exactly, mean, median
from .shared.recipes import GaussiansThenZeros

N = 15
TERMS: dict[str, dict[tuple[int, ...], float]] = {
    "f2": {(0, 1): 1.0},
    "f1": {(0, 1): 1.0, (1, 2): -1.25, (0, 2): 1.5},
}
LEAST: dict[str, dict[tuple[int, ...], float]] = {
    "f2": {(): -1.0, (0,): 1.0, (1,): 1.0},
    "f1": {(0,): -1.25, (1,): 1.5, (2,): 1.0},
}
"""The interpolators of least degree as the paper has them."""
SUBSETS = ((), (0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2))
NAMES = {"features": "random features, frozen", "as-written": "random features, as in the script",
         "mean-field": "mean field", "mlp": "MLP"}  # fmt: skip
MOVED = "moved"
"""The control."""


@dataclass(frozen=True)
class Settings:
    features: int
    field: int
    widths: tuple[int, ...]
    rate: float
    """Of the MLP."""
    steps: int
    """Of random features, with batch 256; other networks take four times as many, with batch 64."""
    seeds: int
    wide_seeds: int
    """Of the mean field and the MLP, of which a run takes longer."""
    functions: tuple[str, ...] = ("f2", "f1")


SETTINGS = {
    "quick": Settings(features=2**9, field=2**9, widths=(64, 64), rate=0.01, steps=3000, seeds=10, wide_seeds=10),
    "paper": Settings(
        features=2**13, field=2**16, widths=(512, 1024, 512, 64), rate=0.003, steps=3840, seeds=1000, wide_seeds=100
    ),
}


def task_of(name: str) -> pl.AbstractDistribution:
    """The seen part of the cube."""
    terms = TERMS[name]
    target = Polynomial(N, tuple(terms), tuple(terms.values()))
    if name == "f2":
        return seen(target, {0: -1, 1: -1})
    return PartOfCube(target, (0, 1, 2), [(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)])


def plan(settings: Settings) -> Iterator[pl.Plan]:
    features = pl.MLP(settings.features, initialization=GaussiansThenZeros())
    linear = 1e-5 * 2**13 / settings.features
    field = 1000 * settings.field / 2**16
    mean_field = pl.MLP(settings.field, initialization=MeanFieldInitialization())
    slow = {"hidden": field, "output.weight": field / settings.field**2}
    models: dict[str, tuple[pl.MLP, Any, int]] = {
        "features": (features, {"output.weight": linear}, 256),
        "as-written": (features, {"hidden": linear, "output.weight": linear}, 256),
        MOVED: (features, {"hidden": 100 * linear, "output.weight": linear}, 256),
        "mean-field": (mean_field, slow, 64),
        "mlp": (pl.MLP(settings.widths), settings.rate, 64),
    }
    records = [pl.training.OutputFourier(SUBSETS, 2**N), pl.training.FreshLoss(4096), pl.training.LayerDrift()]
    for function in settings.functions:
        for name, (network, rate, batch) in models.items():
            steps = settings.steps * 256 // batch
            seeds = settings.wide_seeds if name in ("mean-field", "mlp") else settings.seeds
            yield pl.plan(
                task_of(function), network, rate=rate, batch=batch, loss="square", steps=steps, every=steps,
                validation=0, seeds=seeds, learned=pl.training.LossBelow(0.0),
                records=records,
                labels={"function": function, "model": name},
            )  # fmt: skip


def read(settings: Settings, results: Results) -> pd.DataFrame:
    """The coefficients of each trained network and its loss on the seen part; `share` is its place between target and
    interpolator: 0 at the interpolator of least degree, 1 at the target."""
    last = results.curves().sort_values("step").groupby(["function", "model", "seed"], as_index=False).last()
    rows = []
    for _, row in last.iterrows():
        found = np.asarray(row.output_fourier, float)
        least, target = (_vector(each[row.function]) for each in (LEAST, TERMS))
        towards = target - least
        share = float((found - least) @ towards / (towards @ towards))
        rows.append({"function": row.function, "model": row.model, "seed": row.seed, "share": share,
                     "loss": row.fresh_loss, "coefficients": found, "drift": float(row.layer_drift[0])})  # fmt: skip
    return pd.DataFrame(rows)


def _vector(terms: dict[tuple[int, ...], float]) -> np.ndarray:
    return np.array([terms.get(subset, 0.0) for subset in SUBSETS])


def claims(settings: Settings) -> Iterator[Claim]:
    for function in settings.functions:
        yield Claim(
            f"{function}/least", f"the interpolator of least degree of {function} is the one that the paper names; "
            "largest difference of coefficients", None, Region(high=1e-6), partial(difference, function), 0.0,
            null=IDENTITY,
        )  # fmt: skip
        for model in NAMES:
            yield Claim(
                f"{function}/{model}/fits", f"{function}, {NAMES[model]}: the seen part is learned; mean square loss "
                "on it, the target's own being 1 or more", None, Region(high=0.1),
                partial(value, function, model, "loss"), null=Null("the zero function", 1.0),
            )  # fmt: skip
        yield Claim(
            f"{function}/features/least", f"{function}, {NAMES['features']}: the interpolator of least degree is "
            "found; place between it (0) and the target (1), mean", 0.0, Region(-0.2, 0.2),
            partial(value, function, "features", "share"), null=Null("the target", 1.0),
        )  # fmt: skip
        for model in ("mean-field", "mlp"):
            yield Claim(
                f"{function}/{model}/nearer", f"{function}, {NAMES[model]}: what is found is nearer to the "
                "interpolator of least degree than to the target; mean place between them", 0.0, Region(high=0.4),
                partial(value, function, model, "share"), null=Null("half way", 0.5),
            )  # fmt: skip
        yield Claim(
            f"{function}/as-written", f"{function}: training the features, as the script does, changes what is found; "
            "difference of the places, mean over seeds", None, Region(low=0.02), partial(slip, function, "as-written"),
            explanation="At this rate the features hardly move while the output layer is fitted: the slip is harmless.",
            null=Null("no difference", 0.0), tested_by=(f"{function}/still", f"{function}/moved"),
        )  # fmt: skip
        yield Claim(
            f"{function}/still", f"{function}, {NAMES['as-written']}: the features hardly move; the farthest that one "
            "moves, of a length of about 1, median", None, Region(high=0.1), partial(drift, function),
            null=Null("the control", partial(drift_of_control, function)),
        )  # fmt: skip
        yield Claim(
            f"{function}/moved", f"{function}, control: features that are trained a hundred times as fast do change "
            "what is found; difference of the places, mean", None, Region(low=0.02), partial(slip, function, MOVED),
            null=Null("no difference", 0.0),
        )  # fmt: skip


def difference(function: str, table: pd.DataFrame) -> Measured:
    small = np.asarray(cube(3), float)
    unseen = (small[:, 0] < 0) & (small[:, 1] < 0) if function == "f2" else small.prod(axis=1) < 0
    points = small[~unseen]
    y = sum(c * points[:, list(subset)].prod(axis=1) for subset, c in TERMS[function].items())
    found = least_degree_interpolator(points, np.asarray(y)).terms
    named = LEAST[function]
    return exactly(max(abs(found.get(subset, 0.0) - named.get(subset, 0.0)) for subset in {*found, *named}))


def of(function: str, model: str, table: pd.DataFrame) -> pd.DataFrame:
    return table[(table.function == function) & (table.model == model)].sort_values("seed")


def value(function: str, model: str, column: str, table: pd.DataFrame) -> Measured:
    return mean(of(function, model, table)[column])


def slip(function: str, model: str, table: pd.DataFrame) -> Measured:
    """Seeds are shared: the difference is taken seed by seed."""
    frozen, trained = (of(function, each, table).share.to_numpy() for each in ("features", model))
    return mean(trained - frozen)


def drift_of_control(function: str, table: pd.DataFrame) -> float:
    return float(of(function, MOVED, table).drift.median())


def drift(function: str, table: pd.DataFrame) -> Measured:
    return median(of(function, "as-written", table).drift)


def plot(settings: Settings, table: pd.DataFrame) -> Figures:
    """The coefficients that each model finds, between those of target and interpolator."""
    figure, axes = panels(1, len(settings.functions), width=4.2, height=2.8)
    places = np.arange(len(SUBSETS))
    words = ["1" if not subset else "".join(f"$x_{i}$" for i in subset) for subset in SUBSETS]
    for axis, function in zip(axes[0], settings.functions, strict=True):
        axis.bar(places, _vector(LEAST[function]), 0.8, color="0.85", label="least degree")
        axis.bar(places, _vector(TERMS[function]), 0.8, fill=False, edgecolor="0.3", linestyle=":", label="target")
        for i, model in enumerate(NAMES):
            found = np.stack(of(function, model, table).coefficients.to_list())
            values, bars = error_bars([mean(column) for column in found.T])
            axis.errorbar(places + 0.18 * (i - 1.5), values, bars, color=INKS[i], marker="os^D"[i], linestyle="none",
                          markersize=4, label=NAMES[model])  # fmt: skip
        axis.axhline(0, color="0.4", linewidth=0.6)
        axis.set_xticks(places, words, fontsize=6)
        unseen = "$x_0 = x_1 = -1$" if function == "f2" else "$x_0 x_1 x_2 = -1$"
        dress(axis, xlabel="character", ylabel="coefficient of the network", title=f"{function}, unseen: {unseen}",
              legend="beside" if function == settings.functions[-1] else None)  # fmt: skip
    return shown("unseen", figure, f"What is learned where nothing was seen, n = {N}, {settings.seeds} seeds")
