"""What the experiments of the symmetry paper share: the task, both ways of training, and their curves.

Not an experiment. It stays in this place because the names of stored runs contain that of `SymmetricTask`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import PRNGKeyArray
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy.stats import binom

import paritylab as pl

from ....analysis import maximal_margin, symmetric_embedding
from ....figures import ink
from ....networks.activations import Activation
from ....sweep import Results
from ....training.plans import Plan
from ....training.rules.records import AbstractRecord
from ....training.rules.weight_records import TrueError, WeightError
from ...base import Measured
from ...measures import fraction, median

Target = Literal["parity", "random"]
Trained = Literal["both", "output", "random"]
Inputs = Literal["uniform", "sparse", "weights"]

BOTH_WAYS: tuple[Trained, ...] = ("both", "output")
NAMES = {"both": "both layers", "output": "second layer only", "ours": "symmetric start", "random": "random start"}
RANDOM_RATE = 0.02
"""The paper does not print how its random start is drawn and trained: uniform in +-1/sqrt(fan-in), at this rate."""

LOWEST = 2
"""The part of low degree of a function: its levels up to this one."""
SINGLE = 3
"""Single runs that a figure shows beside the median: the paper has one."""
LANES = 10
"""Twenty seeds on two cores leave no lane idle."""


@dataclass(frozen=True)
class SymmetricTask:
    """Parity, or a random symmetric function per seed, on points of {0,1}^n; with corrupted data if asked."""

    n: int
    target: Target = "random"
    flips: float = 0.0
    """The probability of a flipped label in the sample."""
    shift: float = 0.0
    """Every coordinate is moved by a uniform number of at most this size."""
    inputs: Inputs = "uniform"
    """How points are drawn: uniformly, with ones in a quarter of the places, or with all weights equally likely."""

    def __call__(self, key: PRNGKeyArray) -> pl.AbstractDistribution:
        parity, random = pl.targets.full_parity, pl.targets.random_symmetric
        target = parity(self.n) if self.target == "parity" else random(self.n, key=key)
        task: pl.AbstractDistribution = pl.distributions.Encoded(drawn(target, self.inputs), "bits")
        task = pl.distributions.ShiftedInputs(task, self.shift) if self.shift else task
        return pl.FlippedLabels(task, self.flips) if self.flips else task


def drawn(target: pl.AbstractTarget, inputs: Inputs) -> pl.AbstractDistribution:
    """Points as asked for, labelled by the target.

    Coordinates that are 1 with a probability drawn uniformly from [0, 1] have every number of ones equally often. That
    is an integral of polynomials of degree n, which Gauss's quadrature has exactly with n // 2 + 1 probabilities.
    """
    if inputs == "uniform":
        return pl.Uniform(target)
    if inputs == "sparse":
        return pl.Product(target, 0.5)  # a bit is 1 where x_i = -1
    means, shares = np.polynomial.legendre.leggauss(target.n // 2 + 1)
    return pl.distributions.Mixture([pl.Product(target, float(mean)) for mean in means], (shares / 2).tolist())


def sgd(
    task: SymmetricTask,
    trained: Trained,
    *,
    sample: int | None = None,
    power: int | float = 6,
    epochs: int,
    every: int,
    seeds: int | Sequence[int],
    confidence: int | float | None = None,
    points: int = 10_000,
    records: Sequence[AbstractRecord] = (),
    labels: dict[str, Any] | None = None,
    block: int | None = None,
    activation: Activation = pl.relu,
) -> Plan:
    """SGD of batch one with step h = n^-power, recorded now and then (`every`, in epochs), until nothing changes.

    The sample has n points if nothing else is said; beta is `confidence` times h, else n^3 h. Where only the second
    layer is trained h is a unit of measure: output and beta are multiples of it, so that it is 1 here and all numbers
    are integers.
    """
    n = task.n
    sample = n if sample is None else sample
    confidence = n**3 if confidence is None else confidence
    h = {"both": float(n) ** -power, "output": 1.0, "random": RANDOM_RATE}[trained]
    width = 4 * n + 3 if activation is pl.relu else n + 3  # smooth units are never silent
    network = pl.MLP(width) if trained == "random" else pl.networks.Staircase(width, activation, trained=trained)
    exact = trained == "output" and not task.shift
    error: AbstractRecord = WeightError() if exact else TrueError(points)
    return pl.plan(
        task,
        network,
        rate=h,
        loss=pl.training.Confidence(confidence * h, block=block or (8 if trained == "output" else 1)),
        batch=1,
        sample=sample,
        seeds=seeds,
        steps=epochs * sample,
        every=every * sample,
        validation=0,
        records=(pl.training.SampleError(), error, pl.training.Updates(), *records),
        float64=True,
        lanes=LANES,
        labels={"target": task.target, "trained": trained, "power": power, "confidence": confidence, **(labels or {})},
    )


class Curves(NamedTuple):
    """What was recorded of all runs, with the epoch, and the end of each."""

    all: pd.DataFrame
    ends: pd.DataFrame

    def of(self, **which: Any) -> pd.DataFrame:
        """The ends, by seed, of the runs that have these labels."""
        return _chosen(self.ends, which).set_index("seed")

    def until(self, epochs: int | float, **which: Any) -> pd.DataFrame:
        """The last record within so many epochs, by seed, of the runs that have these labels."""
        rows = _chosen(self.all, which)
        return rows[rows.epoch <= epochs].sort_values("step").groupby("seed").tail(1).set_index("seed")


def _chosen(rows: pd.DataFrame, which: dict[str, Any]) -> pd.DataFrame:
    return rows[np.logical_and.reduce([rows[name] == value for name, value in which.items()])]


def read(settings: Any, results: Results) -> Curves:
    """What the experiments on training compute their claims and figures from."""
    table = results.curves()
    table = table.assign(epoch=table.step / table["sample"])
    return Curves(table, ends(table))


def ends(curve: pd.DataFrame) -> pd.DataFrame:
    """The last row of each run, and the first recorded epoch without a mistake on the sample (infinite if none)."""
    last = curve.sort_values("step").groupby("run").tail(1).set_index("run")
    clean = curve[(curve.sample_error == 0) & (curve.step > 0)].groupby("run")
    zero = clean.epoch.min().reindex(last.index).fillna(np.inf)
    then = clean.updates.min().reindex(last.index)
    return last.assign(zero_epoch=zero, updates_at_zero=then)


def without_error(rows: pd.DataFrame) -> Measured:
    """The fraction of seeds whose training error becomes 0."""
    return fraction(rows.zero_epoch < np.inf)


def by_then(rows: pd.DataFrame, epochs: int | float) -> Measured:
    """The fraction of seeds whose training error becomes 0 within so many epochs."""
    return fraction(rows.zero_epoch <= epochs)


def squared_radius(n: int) -> int:
    """R^2, the squared length of the longest embedded point, its constant coordinate included.

    >>> squared_radius(20)
    3312
    """
    return 1 + (n + 1) * (n + 2) * (2 * n + 3) // 6


def values_of(n: int, target: Target, seed: int) -> np.ndarray:
    """The values on weights 0, ..., n of the function that the runs of a seed learn."""
    function = SymmetricTask(n, target)(pl.root_key(seed)).base.target  # type: ignore[attr-defined]
    return np.asarray(function.values, float)


def sample_margins(rows: pd.DataFrame, n: int) -> "pd.Series[float]":
    """The margin that the embedded sample of each run has; its weights are recorded by `SeenWeights`."""
    margins = {}
    for seed, row in rows.iterrows():
        seen = np.asarray(row.seen_weights, bool)
        values = values_of(n, row.target, int(str(seed)))
        found = seen.any() and len(set(values[seen])) == 2
        margins[seed] = maximal_margin(symmetric_embedding(n)[seen], values[seen]).margin if found else np.inf
    return pd.Series(margins)


def easier_half(rows: pd.DataFrame, n: int, easier: bool = True) -> pd.DataFrame:
    """The runs whose sample has at least the median margin, or the others."""
    margins = sample_margins(rows, n)
    return rows[(margins >= margins.median()) == easier]


def low_degree_errors(n: int, seeds: "pd.Index[Any]") -> "pd.Series[float]":
    """How often the sign of the lowest levels of each seed's random function is wrong on uniform points."""
    mass, powers = binom.pmf(np.arange(n + 1), n, 0.5), np.vander(np.arange(n + 1) / n - 0.5, LOWEST + 1)
    root, found = np.sqrt(mass), {}
    for seed in seeds:
        values = values_of(n, "random", int(seed))
        # These levels of a symmetric function are its best quadratic in |x|, weights counted as often as they occur.
        best = np.linalg.lstsq(powers * root[:, None], values * root, rcond=None)[0]
        found[seed] = float(mass @ (np.sign(powers @ best) != values))
    return pd.Series(found)


def unlike(one: "pd.Series[float]", other: "pd.Series[float]") -> Measured:
    """How far apart two errors of one seed are, median over seeds, as a share of that of two seeds of the first."""
    apart, scale = (one - other).abs().dropna(), one.diff().abs().median()
    return median(apart / scale if scale > 0 else apart * np.inf)


def draw_errors(
    axis: Axes,
    curve: pd.DataFrame,
    ways: Sequence[str] = ("both", "output"),
    until: int | float | None = None,
    single: bool = False,
) -> None:
    """Median training and true error over epochs, a band from the 10th to the 90th percentile of seeds.

    A run that has come to rest keeps its last errors to the end of the axis, which is `until` if given. At epoch 0
    every output is 0, and nothing is learned. The paper shows one run: with `single`, the first seed's is drawn thinly.
    """
    until = float(curve.epoch.max() if until is None else until)
    for i, way in enumerate(ways):
        here = curve[(curve.trained == way) & (curve.epoch > 0)]
        if here.empty:
            continue
        for kind, name in (("sample_error", "training"), ("true_error", "true")):
            wide = here.pivot_table(index="epoch", columns="seed", values=kind)
            wide = wide.reindex(wide.index.union([until])).ffill()
            style = {"color": ink(i)["color"], "linestyle": ("-", "--", ":", "-.")[i + 2 * (name == "training")]}
            axis.plot(wide.index, wide.median(axis=1), label=f"{NAMES[way]}, {name}", linewidth=1.4, **style)
            if single:
                axis.plot(wide.index, wide[wide.columns.min()], linewidth=0.5, alpha=0.7, **style)
            if kind == "true_error":
                low, high = wide.quantile(0.1, axis=1), wide.quantile(0.9, axis=1)
                words = f"{NAMES[way]}, true: 10th to 90th percentile of seeds"
                axis.fill_between(wide.index, low, high, color=style["color"], alpha=0.12, linewidth=0, label=words)
    axis.set_ylim(-0.02, 0.62)
    axis.set_xlim(0, until)
    axis.xaxis.set_major_locator(MaxNLocator(5))
    axis.set_xlabel("epoch")


def draw_difference(axis: Axes, curve: pd.DataFrame, until: int | float | None = None) -> None:
    """The true error of both layers less that of the second alone, from the same seeds: median, band, single runs.

    Where the two go the same way their curves lie on each other, and only the difference can be seen.
    """
    until = float(curve.epoch.max() if until is None else until)
    wide = {
        way: curve[(curve.trained == way) & (curve.epoch > 0)].pivot_table(
            index="epoch", columns="seed", values="true_error"
        )
        for way in BOTH_WAYS
    }
    epochs = wide["both"].index.union(wide["output"].index).union([until])
    both, output = (wide[way].reindex(epochs).ffill() for way in BOTH_WAYS)
    apart = (both - output).dropna(axis=1, how="all")
    for place, seed in enumerate(apart.columns[:SINGLE]):
        label = f"{SINGLE} single runs" if place == 0 else None
        axis.plot(apart.index, apart[seed], color="0.6", linewidth=0.6, label=label)
    axis.plot(apart.index, apart.median(axis=1), linewidth=1.4, label="median of the difference", **ink(2))
    low, high = apart.quantile(0.1, axis=1), apart.quantile(0.9, axis=1)
    axis.fill_between(apart.index, low, high, color=ink(2)["color"], alpha=0.15, linewidth=0)
    axis.axhline(0, color="0.3", linewidth=0.6)
    axis.set_xlim(0, until)
    axis.xaxis.set_major_locator(MaxNLocator(5))
    axis.set_xlabel("epoch")


def finish(figure: Figure, axes: np.ndarray, title: str) -> Figure:
    """Names of the axes, and one legend for all panels, below them."""
    for axis in axes[:, 0]:
        axis.set_ylabel(axis.get_ylabel() or "error")
    pairs = (pair for axis in axes.flat for pair in zip(*axis.get_legend_handles_labels(), strict=True))
    found = {label: handle for handle, label in pairs}
    columns = 3 if axes.shape[1] > 1 else 2
    figure.legend(found.values(), found.keys(), loc="outside lower center", ncols=columns, fontsize=8)
    figure.suptitle(title, fontsize=11)
    return figure
