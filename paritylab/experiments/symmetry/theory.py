"""Theorem 2 and Lemma 4 of symmetry, along runs.

Theorem 2: the modified perceptron makes at most (2 beta + R^2 h) / (gamma^2 h) updates and ends with a margin of at
least gamma beta / (2 beta + R^2 h), tried on random separable problems of 2 to 8 dimensions.

Lemma 4: while both layers train, no embedded point moves far, the output weights stay short and training ends
within 20 R^2 / gamma^2 updates, if h <= gamma^(5/2) / (100 R^2 R_X) and beta = R^2 h. The h = n^-6 of figure 2 does
not meet that (8e-11 at n = 30); its runs are held against the three conclusions all the same, and parity at
n = 6 is trained to the end with an h that does.

Section 1: parity is hard to learn as one of all parities, which are orthogonal, and easy as one of the symmetric
functions, which are not; see `shared.classes`.

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
from ..base import IDENTITY, Claim, Null, Region
from ..drawing import dress, shown
from ..measures import exactly, largest, least, proportion
from .shared.classes import dimensions, eliminated
from .shared.runs import SymmetricTask, sgd, squared_radius

SMALL = 6
"""The n at which the step of Lemma 4 is affordable."""
BITS, SPARE = 30, 10
"""Parities of so many bits are found by elimination, from so many more examples."""
EXAMPLES = 60_000
"""On so many the perceptron in floating point is followed in whole numbers."""

ENDLESS = Null("training that never ends", math.inf)
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
    largest: int
    """The largest n at which all parities and all symmetric functions are written down."""


SETTINGS = {
    "quick": Settings(1000, n=12, epochs=4000, seeds=8, ties=(10, 20, 30), largest=7),
    "paper": Settings(1000, n=30, epochs=60_000, seeds=20, ties=(10, 20, 30, 60), largest=10),
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
    for n in range(2, settings.largest + 1):
        yield Call(dimensions, {"n": n}, labels={"part": "classes"}, seconds=0.1)
    for examples in (BITS + SPARE, BITS - 1):
        given = {"n": BITS, "examples": examples, "trials": 1000, "seed": 0}
        yield Call(eliminated, given, labels={"part": "elimination"}, seconds=2)
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
    yield Claim("theorem2/updates", statement, None, Region(high=1.0), measure, null=ENDLESS)
    statement = f"Theorem 2, {settings.problems} random problems: the least margin as a multiple of the bound"
    measure = lambda data: least(data.table.margin_ratio.dropna())
    null = Null("a separator without a margin", 0.0)
    yield Claim("theorem2/margin", statement, None, Region(low=1.0), measure, null=null)
    statement = f"Lemma 4, {small}: h over the largest that it allows"
    measure = lambda data: largest(data.drift["small"].hypothesis)
    null = Null("the h of figure 2", float(SMALL) ** (small_power() - 6))
    yield Claim("lemma4/small/hypothesis", statement, None, Region(high=1), measure, null=null)
    measure = lambda data: exactly((data.table[data.table.part == "small"].outcome != "settled").sum())
    statement, null = f"Lemma 4, {small}: runs that do not come to rest", Null("all of them", float(settings.seeds))
    yield Claim("lemma4/small/ends", statement, 0.0, Region(0, 0), measure, null=null)
    yield from conclusions("small", small)
    statement = f"Lemma 4, {runs}: its condition on h is not met; the least h over the largest that it allows"
    measure = lambda data: least(data.drift["figure2"].hypothesis)
    null = Null("half of the h that it allows", 0.5)
    yield Claim("lemma4/figure2/hypothesis", statement, None, Region(low=1.0), measure, null=null)
    yield from conclusions("figure2", runs, CONFIDENT)
    statement = (
        f"the perceptron with h = n^-6 in floating point and in whole numbers of h part now and then; on how many "
        f"examples, n = {', '.join(map(str, settings.ties))}, {EXAMPLES:,} each"
    )
    parted, null = lambda data: exactly(data.table.parted.sum()), Null("h a power of two: no rounding", 0.0)
    yield Claim("shortcut/parted", statement, None, Region(low=1), parted, null=null)
    statement = "they part only where y w . v = beta exactly; on how many other examples"
    measure = lambda data: exactly(data.table.parted_elsewhere.sum())
    null = Null("where they part", lambda data: float(data.table.parted.sum()))
    yield Claim("shortcut/ties", statement, None, Region(0, 0), measure, 0.0, null=null)
    yield from of_classes(settings.largest)


def of_classes(top: int) -> Iterator[Claim]:
    """Section 1: all parities are orthogonal and hard for statistical queries; symmetric functions are neither."""
    every = f"uniform points, n = 2 to {top}"
    rows = lambda data, part: data.table[data.table.part == part].dropna(axis=1, how="all")
    statement = (
        f"all 2^n parities are orthogonal to each other ({every}); the largest entry of their Gram matrix less the "
    )
    measure = lambda data: largest(rows(data, "classes").overlap)
    yield Claim("classes/orthogonal", f"{statement}identity", 0.0, Region(0, 1e-12), measure, 0.0, null=IDENTITY)
    statement = (
        f"the statistical dimension of the 2^(n+1) symmetric functions is at most n + 1 ({every}), spectrally; the "
    )
    ratio = lambda data, name: rows(data, "classes")[name] / (rows(data, "classes").n + 1)
    null = Null("all parities, the least", lambda data: float(ratio(data, "parities").min()))
    words, measure = f"{statement}largest over n + 1", lambda data: largest(ratio(data, "symmetric"))
    yield Claim("classes/symmetric", words, None, Region(high=1 + 1e-9), measure, "at most 1", null=null)
    statement = (
        f"a random parity of {BITS} bits is learned from {BITS + SPARE} uniform examples by Gaussian elimination; "
    )
    found = lambda data, examples: rows(data, "elimination").set_index("examples").loc[examples]
    share = lambda row: proportion(int(row.recovered), int(row.trials))
    null = Null(f"{BITS - 1} examples", lambda data: share(found(data, BITS - 1)).value)
    measure, theory = lambda data: share(found(data, BITS + SPARE)), 1 - 2.0**-SPARE
    words = f"{statement}fraction of parities"
    yield Claim("classes/elimination", words, "O(n)", Region(low=0.99), measure, round(theory, 4), null=null)


def conclusions(part: str, words: str, long: str = "") -> Iterator[Claim]:
    """The three conclusions of Lemma 4; `long` says why output weights are longer than it has them."""

    def kept(name: str, what: str, null: Null, **why: Any) -> Claim:
        statement = f"Lemma 4, {words}: largest {what} over its bound"
        measure = lambda data: largest(data.drift[part][name])
        return Claim(f"lemma4/{part}/{name}", statement, None, Region(high=1.0), measure, null=null, **why)

    of = lambda name: lambda data: float(data.drift[part][name].min())
    yield kept("moved", "movement of an embedded point", Null("a quarter of the margin", of("quarter")))
    why = {"explanation": long, "tested_by": (f"lemma4/{part}/norm-cube",)} if long else {}
    yield kept("norm", "length of the output weights", Null("updates of one direction", of("straight")), **why)
    if long:
        longest = "length of the output weights with n^3 in place of R^2"
        yield kept("norm-cube", longest, Null("updates of one direction", of("straight")))
    yield kept("updates", "number of updates", ENDLESS)


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
                # |M|^2 <= t (2 beta h + R^2 h^2) for any beta: with n^3 h in place of R^2 h
                "norm-cube": (run.output_norm / (step * np.sqrt((2 * n**3 + radius**2) * run.updates))).max(),
                "quarter": margin / 4 / np.max(bound.moved_bound),
                "straight": math.sqrt(run.updates.max() / 3),
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
