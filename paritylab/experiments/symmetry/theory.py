"""Theorem 2 and Lemma 4 of symmetry, along runs.

Theorem 2: the modified perceptron makes at most (2 beta + R^2 h) / (gamma^2 h) updates and ends with a margin of at
least gamma beta / (2 beta + R^2 h), tried on random separable problems of 2 to 8 dimensions.

Lemma 4: while both layers train, no embedded point moves far, the output weights stay short and training ends
within 20 R^2 / gamma^2 updates, if h <= gamma^(5/2) / (100 R^2 R_X) and beta = R^2 h. The h = n^-6 of figure 2 does
not meet that (8e-11 at n = 30); its runs are held against the three conclusions all the same, and parity at
n = 6 is trained to the end with an h that does.

The shortcut: in units of h the perceptron on n + 1 points counts in whole numbers. With h = n^-6 in floating point
it may decide differently only where y w . v = beta exactly; these ties are counted.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import paritylab as pl

from ...analysis import check_drift, largest_step, maximal_margin, modified_perceptron_bounds, symmetric_embedding
from ...figures import ink, panels
from ...sweep import Call, Results
from ...training.perceptron import count_ties, modified_perceptron
from ...training.plans import Plan
from ...training.rules.weight_records import Movement, OutputNorm, Radius
from ..base import Claim, Region
from ..drawing import dress, shown
from ..measures import exactly, largest, least
from .shared.runs import SymmetricTask, sgd, squared_radius

SMALL = 6
"""The n at which the step of Lemma 4 is affordable."""
EXAMPLES = 60_000
"""On so many the perceptron in floating point is followed in whole numbers."""

CONFIDENT = (
    "The lemma has beta = R^2 h, with R the length of the longest embedded point, 102 at n = 30. Figure 2 has beta = "
    "n^3 h, as if R were 164, and a larger beta lets the output weights grow longer: up to sqrt(2 n^3 + R^2) h "
    "sqrt(t), 1.44 times the lemma's bound. With R = n^(3/2) in it the bound is kept."
)


@dataclass(frozen=True)
class Settings:
    problems: int
    n: int
    epochs: int
    seeds: int
    ties: tuple[int, ...]


SETTINGS = {
    "quick": Settings(1000, n=12, epochs=4000, seeds=8, ties=(10, 20, 30)),
    "paper": Settings(1000, n=30, epochs=60_000, seeds=20, ties=(10, 20, 30, 60)),
}


def theorem2(first: int, problems: int) -> list[dict[str, float]]:
    """Random problems: unit normals, points at a distance from them, any h and beta."""
    rows = []
    for number in range(first, first + problems):
        rng = np.random.default_rng(number)
        size, dimension = rng.integers(2, 30), rng.integers(2, 9)
        normal = rng.normal(size=dimension)
        points = rng.normal(size=(size, dimension)) * rng.choice([0.3, 1.0, 10.0])
        along = points @ normal / np.linalg.norm(normal)
        labels = np.where(along >= 0, 1, -1)
        points += 0.2 * labels[:, None] * normal / np.linalg.norm(normal) * np.linalg.norm(points, axis=1).max()
        step, confidence = 10 ** rng.uniform(-3, 1), rng.choice([0.0, 1.0]) * 10 ** rng.uniform(-2, 2)
        # beta in units of R^2 h: all ratios of the two that matter
        radius = float(np.linalg.norm(points, axis=1).max())
        confidence *= radius**2 * step
        found = maximal_margin(points, labels)
        bounds = modified_perceptron_bounds(radius, found.margin, step, confidence)
        trace = modified_perceptron(points, labels, step, confidence, rng=rng)
        margin_ratio = trace.margin / bounds.margin if bounds.margin > 0 else math.inf
        rows.append({"updates_ratio": trace.updates / bounds.updates, "margin_ratio": margin_ratio})
    return rows


def ties(n: int, epochs: int) -> dict[str, int]:
    """The second layer alone with h = n^-6, beta = n^3 h, on n uniform points and a random function."""
    rng = np.random.default_rng(n)
    values = rng.choice([-1, 1], n + 1)
    sample = rng.binomial(n, 0.5, n)
    order = np.concatenate([rng.permutation(n) for _ in range(epochs)])
    points = symmetric_embedding(n).astype(np.int64)[sample]
    return count_ties(points, values[sample], order, float(n) ** -6, n**3)._asdict()


def small_power() -> int:
    """The least power of 1/n that Lemma 4 allows for h at n = 6, parity."""
    margin = maximal_margin(symmetric_embedding(SMALL), parity(SMALL)).margin
    limit = largest_step(margin, radius_of(SMALL), math.sqrt(SMALL))
    return math.ceil(-math.log(limit) / math.log(SMALL))


def parity(n: int) -> np.ndarray:
    return 1 - 2 * (np.arange(n + 1) % 2)


def radius_of(n: int) -> float:
    return math.sqrt(squared_radius(n))


def plan(settings: Settings) -> Iterator[Plan | Call]:
    """Calls for the perceptron; runs of both layers with their drift."""
    for first in range(0, settings.problems, 100):
        yield Call(theorem2, {"first": first, "problems": 100}, seconds=3)
    for n in settings.ties:
        yield Call(ties, {"n": n, "epochs": EXAMPLES // n}, seconds=1)
    drift: dict[str, Any] = {"points": 1000, "records": (Movement(), OutputNorm(), Radius()), "seeds": settings.seeds}
    epochs, labels = settings.epochs, {"part": "figure2"}
    yield sgd(SymmetricTask(settings.n), "both", epochs=epochs, every=epochs // 40, labels=labels, **drift)
    lemma: dict[str, Any] = {"power": small_power(), "confidence": radius_of(SMALL) ** 2, "labels": {"part": "small"}}
    yield sgd(SymmetricTask(SMALL, "parity"), "both", sample=10 * SMALL, epochs=4000, every=50, **lemma, **drift)


class Data(NamedTuple):
    table: pd.DataFrame
    curves: pd.DataFrame
    drift: dict[str, pd.DataFrame]
    """Ratios to the bounds of Lemma 4, for each part."""


def read(settings: Settings, results: Results) -> Data:
    """Extremes over all problems and runs are what they are."""
    curves = results.curves()
    ratios = {part: drift_ratios(curves[curves.part == part]) for part in ("small", "figure2")}
    return Data(results.table(), curves, ratios)


def claims(settings: Settings) -> Iterator[Claim]:
    """The theorem, the lemma and the shortcut."""
    runs = f"n = m = {settings.n}, random functions, h = n^-6, beta = n^3 h"
    small = f"n = {SMALL}, parity, h = n^-{small_power()} and beta = R^2 h, to the end"
    statement = f"Theorem 2, {settings.problems} random problems: the most updates as a fraction of the bound"
    measure = lambda data: largest(data.table.updates_ratio.dropna())
    yield Claim("theorem2/updates", statement, None, Region(high=1.0), measure)
    statement = f"Theorem 2, {settings.problems} random problems: the least margin as a multiple of the bound"
    measure = lambda data: least(data.table.margin_ratio.dropna())
    yield Claim("theorem2/margin", statement, None, Region(low=1.0), measure)
    statement = f"Lemma 4, {small}: h over the largest that it allows"
    measure = lambda data: largest(data.drift["small"].hypothesis)
    yield Claim("lemma4/small/hypothesis", statement, None, Region(high=1), measure)
    measure = lambda data: exactly((data.table[data.table.part == "small"].outcome != "settled").sum())
    yield Claim("lemma4/small/ends", f"Lemma 4, {small}: runs that do not come to rest", 0.0, Region(0, 0), measure)
    yield from conclusions("small", small)
    statement = f"Lemma 4, {runs}: its condition on h is not met; the least h over the largest that it allows"
    measure = lambda data: least(data.drift["figure2"].hypothesis)
    yield Claim("lemma4/figure2/hypothesis", statement, None, Region(low=1.0), measure)
    yield from conclusions("figure2", runs, CONFIDENT)
    statement = (
        f"the perceptron with h = n^-6 in floating point and in whole numbers of h part now and then; on how many "
        f"examples, n = {', '.join(map(str, settings.ties))}, {EXAMPLES:,} each"
    )
    yield Claim("shortcut/parted", statement, None, Region(low=1), lambda data: exactly(data.table.parted.sum()))
    statement = "they part only where y w . v = beta exactly; on how many other examples"
    measure = lambda data: exactly(data.table.parted_elsewhere.sum())
    yield Claim("shortcut/ties", statement, None, Region(0, 0), measure, theory=0.0)


def conclusions(part: str, words: str, long: str = "") -> Iterator[Claim]:
    """The three conclusions of Lemma 4; `long` says why output weights are longer than it has them."""

    def kept(name: str, what: str, why: str = "") -> Claim:
        statement = f"Lemma 4, {words}: largest {what} over its bound"
        measure = lambda data: largest(data.drift[part][name])
        return Claim(f"lemma4/{part}/{name}", statement, None, Region(high=1.0), measure, explanation=why)

    yield kept("moved", "movement of an embedded point")
    yield kept("norm", "length of the output weights", long)
    yield kept("updates", "number of updates")


def drift_ratios(curve: pd.DataFrame) -> pd.DataFrame:
    """Of each run: h over the largest allowed, and the largest ratio of what was recorded to each bound."""
    rows = []
    for (n, seed), run in curve.groupby(["n", "seed"]):
        task = SymmetricTask(int(n), run.target.iloc[0])(pl.root_key(int(seed)))
        values = np.asarray(task.base.target.values)  # type: ignore[attr-defined]
        margin, radius = maximal_margin(symmetric_embedding(int(n)), values).margin, radius_of(int(n))
        step, run = float(run.rate.iloc[0]), run[run.updates > 0]
        recorded = (run[name].to_numpy() for name in ("updates", "moved", "output_norm"))
        known: dict[str, Any] = {"margin": margin, "radius": radius, "input_radius": math.sqrt(n), "step": step}
        bound = check_drift(*recorded, **known, radii=run.radius.to_numpy())
        rows.append(
            {
                "hypothesis": step / largest_step(margin, radius, math.sqrt(n)),
                "moved": (run.moved / bound.moved_bound).max(),
                "norm": (run.output_norm / bound.norm_bound).max(),
                "updates": run.updates.max() / bound.updates_bound,
            }
        )
    return pd.DataFrame(rows)


def plot(settings: Settings, data: Data) -> dict[str, Figure]:
    """Theorem 2 and the drift, as ratios to their bounds."""
    figure, axes = panels(1, 2, width=3.8, height=2.8)
    left, right = axes[0]
    left.hist(data.table.updates_ratio.dropna(), bins=np.linspace(0, 1, 41), color=ink(0)["color"])
    left.set(xlabel="updates / bound", ylabel="problems", title="Theorem 2", xlim=(0, 1))
    parts = {"small": f"n = {SMALL}, h allowed", "figure2": f"n = {settings.n}, n$^{{-6}}$"}
    for i, (part, words) in enumerate(parts.items()):
        here = data.curves[(data.curves.part == part) & (data.curves.updates > 0)]
        for number, (_, run) in enumerate(here.groupby("seed")):
            n, h = int(run.n.iloc[0]), float(run.rate.iloc[0])
            bound = 2 * math.sqrt(6) * n * h**2 * radius_of(n) * run.updates**1.5
            label = words if number == 0 else None
            right.loglog(run.updates, run.moved / bound, linewidth=0.7, label=label, **ink(i))
    right.axhline(1, color="0.4", linewidth=0.8)
    dress(right, xlabel="updates", ylabel="movement / bound", title="Lemma 4", legend="best")
    return shown("theory", figure, "The theory of the symmetric start, along runs")
