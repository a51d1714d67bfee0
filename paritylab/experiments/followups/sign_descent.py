"""Sign descent on parities: d^(k-1) examples, and a basis that matters (Kou, Chen, Gu, Kakade, 2404.12376).

Two layers f(x) = sum_r a_r (w_r . x)^k with a_r = +-1 fixed and w_r that start at random signs; fresh batches of B,
correlation loss, weight decay 1 and steps of size 0.05 against the sign of the gradient, which counts as 0 within a
dead zone of 0.1 k!. The weights of relevant coordinates stay at +-1 in the units whose a_r agrees, all others decay.
Claim: about d^(k-1) examples a step are enough, against d^k for other analyses of SGD. A known remark: sign descent
depends on the basis.

What could not be read: the paper's d, width and batch; 60 units for k = 2 and 120 for k = 3 are ours. A run has learned
once at most 2% of fresh points are wrong. Measured is the least batch at which half of the seeds learn within 200
steps, over d; beside it stands the batch for which all signs of the first step are right, exactly. In another basis
(points multiplied by a random orthogonal matrix) sign descent is tried with the largest batch, and so is plain SGD, for
which a basis is as good as another.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

import paritylab as pl

from ...analysis import examples_for_signs
from ...figures import INKS, Figures, one_panel
from ...networks import Power
from ...statistics import size_for
from ..base import Claim, Measured, Null, Region
from ..drawing import dress
from ..measures import fraction
from .shared.fits import by_bootstrap, slope
from .shared.recipes import Rotated, SignsEverywhere

RATE, STEPS, WIDTHS, DEAD_ZONE = 0.05, 200, {2: 60, 3: 120}, {2: 0.2, 3: 0.6}


@dataclass(frozen=True)
class Settings:
    sizes: dict[int, tuple[int, ...]]
    """The d for each k."""
    least: dict[int, float]
    """The least batch that is tried, divided by d^(k-1)."""
    batches: int
    """How many are tried, each twice the one before."""
    seeds: int
    turned: int
    """The d at which the basis is turned, for k = 2."""

    def tried(self, k: int, d: int) -> list[int]:
        return [max(1, round(self.least[k] * d ** (k - 1) * 2**i)) for i in range(self.batches)]


SETTINGS = {
    "quick": Settings(
        sizes={2: (20, 40, 80), 3: (10, 16, 24)}, least={2: 0.05, 3: 0.03}, batches=5, seeds=24, turned=20
    ),
    "paper": Settings(
        sizes={2: (20, 28, 40, 57, 80, 113, 160, 226), 3: (10, 14, 20, 28, 40, 57)}, least={2: 0.05, 3: 0.02},
        batches=7, seeds=1000, turned=40,
    ),
}  # fmt: skip


def trained(k: int, d: int, batch: int, seeds: int, way: str, task: pl.AbstractDistribution) -> pl.Plan:
    signs = way == "signs"
    network = pl.MLP(WIDTHS[k], Power(k), SignsEverywhere())
    layer = "hidden.0.weight"
    return pl.plan(
        task, network, rate={layer: RATE if signs else 0.01}, batch=batch, loss="correlation", steps=STEPS, every=20,
        optimizer=pl.training.SignDescent(DEAD_ZONE[k]) if signs else "sgd", seeds=seeds, validation=2048,
        decay=pl.training.Decay({layer: 1.0 if signs else 0.0}, convention="rate"),
        learned=pl.training.ErrorAtMost(0.02),
    )  # fmt: skip


def plan(settings: Settings) -> Iterator[pl.Plan]:
    for k, sizes in settings.sizes.items():
        for d, i in itertools.product(sizes, range(settings.batches)):
            task = pl.Uniform(pl.Parity(d, range(k)))
            made = trained(k, d, settings.tried(k, d)[i], settings.seeds, "signs", task)
            yield labelled(made, part="over d", k=k, d=d, i=i)
    d = settings.turned
    task = pl.Uniform(pl.Parity(d, (0, 1)))
    batch = settings.tried(2, d)[-1]
    for basis, way in itertools.product(("own", "turned"), ("signs", "sgd")):
        used = task if basis == "own" else Rotated(task, seed=1)
        yield labelled(trained(2, d, batch, settings.seeds, way, used), part=basis, way=way)


def labelled(made: pl.Plan, **labels: object) -> pl.Plan:
    """The plan with further columns."""
    columns = {name: np.full(len(made), value) for name, value in labels.items()}
    return pl.Plan(**{**made.__getstate__(), "columns": {**columns, **made.columns}})


def claims(settings: Settings) -> Iterator[Claim]:
    for k in settings.sizes:
        yield Claim(
            f"k{k}/exponent", f"k = {k}: the least batch grows like d^{k - 1}; exponent", k - 1,
            Region(k - 1 - 0.35, k - 1 + 0.35), partial(exponent, settings, k), k - 1,
            null=Null("d^k, as for other analyses", float(k)),
        )  # fmt: skip
        most = max(settings.sizes[k])
        yield Claim(
            f"k{k}/learns", f"k = {k}, d = {most}: with the largest batch that is tried sign descent learns the "
            "parity; the fraction of seeds", 1.0, Region(low=0.85),
            partial(share, settings, k, most, settings.batches - 1), null=Null("a guess", 0.0),
        )  # fmt: skip
        yield Claim(
            f"k{k}/fewer", f"k = {k}, d = {most}: training needs fewer examples a step than all signs of the "
            "first step to be right: the least batch over that one, exactly", None, Region(high=0.5),
            partial(against_first_step, settings, k, most), null=Null("as many", 1.0),
        )  # fmt: skip
    yield Claim(
        "basis", f"d = {settings.turned}, k = 2: in another basis sign descent does not learn with the largest batch; "
        "the fraction of seeds that do", None, Region(high=0.2), partial(in_basis, "turned", "signs"),
        null=Null("in its own basis", partial(value_in_basis, "own", "signs")),
    )  # fmt: skip
    yield Claim(
        "basis/sgd", "control: plain SGD learns in that basis with as many examples; the fraction of seeds", None,
        Region(low=0.8), partial(in_basis, "turned", "sgd"),
        null=Null("as sign descent", partial(value_in_basis, "turned", "signs")),
    )  # fmt: skip


def learned(k: int, d: int, table: pd.DataFrame) -> np.ndarray:
    """Rows are seeds, columns batches."""
    rows = table[(table.part == "over d") & (table.k == k) & (table.d == d)]
    wide = rows.assign(learned=rows.outcome == "learned").pivot(index="seed", columns="i", values="learned")
    return wide.to_numpy(float)


def least_batches(settings: Settings, k: int, rows: np.ndarray) -> np.ndarray:
    """For each d the batch at which half of the runs learn, from an array of seeds, sizes and batches."""
    sizes = settings.sizes[k]
    return np.array([size_for(rows[:, j], settings.tried(k, d), wanted=0.5) for j, d in enumerate(sizes)])


def exponent(settings: Settings, k: int, table: pd.DataFrame) -> Measured:
    rows = np.stack([learned(k, d, table) for d in settings.sizes[k]], axis=1)
    return by_bootstrap(rows, lambda some: slope(settings.sizes[k], least_batches(settings, k, some)))


def share(settings: Settings, k: int, d: int, i: int, table: pd.DataFrame) -> Measured:
    return fraction(learned(k, d, table)[:, i] > 0)


def against_first_step(settings: Settings, k: int, d: int, table: pd.DataFrame) -> Measured:
    exact = examples_for_signs(d, k, DEAD_ZONE[k])
    tried = settings.tried(k, d)
    return by_bootstrap(learned(k, d, table), lambda rows: size_for(rows, tried, wanted=0.5) / exact)


def in_basis(basis: str, way: str, table: pd.DataFrame) -> Measured:
    rows = table[(table.part == basis) & (table.way == way)]
    return fraction(rows.outcome == "learned")


def value_in_basis(basis: str, way: str, table: pd.DataFrame) -> float:
    return in_basis(basis, way, table).value


def plot(settings: Settings, table: pd.DataFrame) -> Figures:
    """The least batch over d, the claimed powers and the exact batch of the first step."""
    figure, axis = one_panel(width=4.6, height=3.3)
    for i, (k, sizes) in enumerate(settings.sizes.items()):
        rows = np.stack([learned(k, d, table) for d in sizes], axis=1)
        found = least_batches(settings, k, rows)
        power = exponent(settings, k, table)
        axis.plot(sizes, found, color=INKS[i], marker="os"[i], linestyle="none",
                  label=f"k = {k}: half of the seeds learn; exponent {power.value:.2f}")  # fmt: skip
        axis.plot(sizes, found[0] * (np.array(sizes) / sizes[0]) ** (k - 1), color=INKS[i], linewidth=0.9,
                  label=f"$d^{{{k - 1}}}$")  # fmt: skip
        axis.plot(sizes, [examples_for_signs(d, k, DEAD_ZONE[k]) for d in sizes], color=INKS[i], linestyle=":",
                  label=f"k = {k}: all signs right, exactly")  # fmt: skip
    dress(axis, xlabel="dimension d", ylabel="examples a step", xscale="log", yscale="log", legend="beside",
          title="The batch that sign descent needs")  # fmt: skip
    return {"sign-descent": figure}
