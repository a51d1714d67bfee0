"""One step of sign descent: relevant weights grow and irrelevant ones shrink, for (n/k)^2 times as many examples.

A ReLU unit with sign weights w and output u, in a network that is 0, has the population gradient u chi_S(w) w_j xi /
2 (up to sign), with majority's coefficient xi_(k-1) for the k relevant weights and xi_(k+1) for the others
(hidden-progress, Lemma 2, for even k). Their ratio is exactly -(n-k)/(k-1): the signs differ, so that a step by the
sign of the gradient grows the relevant weights and shrinks the irrelevant ones in the units with u chi_S(w) xi_(k-1)
> 0, half of all, and the reverse in the other half. From B examples the sign of an irrelevant weight's gradient, of
size |xi_(k+1)| / 2 and with a variance of 1/2 an example, is right with probability Phi(sqrt(B xi_(k+1)^2 / 2)). To
tell the support by the size of the gradient takes 1 / xi_(k-1)^2 examples, to use the signs of all weights 1 /
xi_(k+1)^2: ((n-k)/(k-1))^2 times as many.

One step of the lab's engine with optax's sign descent on a batch of B; width 64 in pairs, so that the network starts
at 0.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import optax
import pandas as pd
from scipy.special import ndtr

import paritylab as pl

from ...analysis import exact_majority_coefficient, majority_coefficients
from ...figures import INKS, Figures, one_panel
from ...sweep import Results
from ..base import IDENTITY, Claim, Measured, Null, Region
from ..drawing import dress, error_bars
from ..measures import exactly, mean

N, K, WIDTH, RATE = 31, 2, 64, 0.01
CLOSE = 0.02
"""How far a share may be from the formula."""
SIZES = (5, 11, 21, 31, 101, 301)
"""The n of the exact ratio, with all even k below n to the largest degree."""
LARGEST_DEGREE = 20
PARTS = {"irrelevant": "irrelevant weights that shrink", "relevant": "relevant weights that grow"}


@dataclass(frozen=True)
class Settings:
    batches: tuple[int, ...]
    seeds: int


SETTINGS = {
    "quick": Settings(batches=(10_000, 100_000, 400_000), seeds=20),
    "paper": Settings(batches=(2_500, 10_000, 40_000, 100_000, 400_000), seeds=60),
}


def plan(settings: Settings) -> Iterator[pl.Plan]:
    task = pl.Uniform(pl.Parity(N, support=range(K)))
    network = pl.MLP(WIDTH, initialization=pl.networks.SignInitialization(K), paired=True)
    record = pl.training.Recording((pl.training.Parameters(),), 1)
    for batch in settings.batches:
        yield pl.plan(
            task, network, rate={"hidden.0.weight": RATE}, optimizer=optax.sign_sgd, batch=batch, seeds=settings.seeds,
            steps=1, every=1, validation=0, records=record, lanes=1, labels={"examples": batch},
        )  # fmt: skip


def read(settings: Settings, results: Results) -> pd.DataFrame:
    """For each run the shares of weights that move as the population's sign says, by half of the units."""
    signal = majority_coefficients(N)[K - 1]
    rows = []
    for (batch, seed), curve in results.curves().groupby(["examples", "seed"]):
        before, after = (np.asarray(each, float) for each in curve.sort_values("step").parameters)
        weights, moved = (each[: WIDTH * N].reshape(WIDTH, N) for each in (before, after))
        outputs = before[WIDTH * (N + 1) : WIDTH * (N + 2)]
        learning = outputs * np.prod(weights[:, :K], axis=1) * signal > 0
        grown = np.sign(weights) * (moved - weights)
        part = {"examples": int(batch), "seed": int(seed), "half": float(learning.mean())}
        part["irrelevant"] = float(np.mean(grown[learning, K:] < 0))
        part["relevant"] = float(np.mean(grown[learning, :K] > 0))
        rows.append({**part, "others": float(np.mean(grown[~learning, K:] < 0))})
    return pd.DataFrame(rows)


def predicted(batch: int | float, degree: int) -> float:
    """The probability that the sign of a weight's gradient is right: Phi(sqrt(B xi_degree^2 / 2)).

    >>> [round(predicted(batch, 3), 3) for batch in (10_000, 100_000, 400_000)]
    [0.638, 0.867, 0.987]
    """
    return float(ndtr(math.sqrt(batch / 2) * abs(majority_coefficients(N)[degree])))


def claims(settings: Settings) -> Iterator[Claim]:
    statement = (
        f"xi_(k-1) / xi_(k+1) = -(n-k)/(k-1) in whole numbers, for n = {', '.join(map(str, SIZES))} and even k up to "
        f"{LARGEST_DEGREE}; the largest difference"
    )
    yield Claim(
        "ratio", statement, None, Region(high=1e-12), lambda _: exactly(largest_difference()), 0.0, null=IDENTITY
    )
    for batch in settings.batches:
        yield of_share(batch)
        yield of_others(batch)


def largest_difference() -> float:
    """Between the ratio of two exact coefficients and the formula."""
    cases = ((n, k) for n, k in itertools.product(SIZES, range(2, LARGEST_DEGREE + 1, 2)) if k < n)
    ratio = lambda n, k: exact_majority_coefficient(n, k - 1) / exact_majority_coefficient(n, k + 1)
    return max(float(abs(ratio(n, k) * (k - 1) + (n - k))) for n, k in cases)


def of_share(batch: int) -> Claim:
    share = predicted(batch, K + 1)
    statement = (
        f"n = {N}, k = {K}, one sign step from {batch:,} examples: in the half of the units that learns, the share of "
        "irrelevant weights that shrink is Phi(sqrt(B xi_(k+1)^2 / 2))"
    )
    region, measure = Region(share - CLOSE, share + CLOSE), partial(share_of, batch, "irrelevant")
    return Claim(f"B{batch}/share", statement, None, region, measure, share, null=Null("signs by chance", 0.5))


def of_others(batch: int) -> Claim:
    share = 1 - predicted(batch, K + 1)
    statement = f"the same in the other half of the units, where they grow: B = {batch:,}"
    region, measure = Region(share - CLOSE, share + CLOSE), partial(share_of, batch, "others")
    return Claim(f"B{batch}/others", statement, None, region, measure, share, null=Null("signs by chance", 0.5))


def share_of(batch: int, part: str, table: pd.DataFrame) -> Measured:
    """The mean over runs; the units of a run share a batch."""
    return mean(table[table.examples == batch][part])


def plot(settings: Settings, table: pd.DataFrame) -> Figures:
    """Shares over the batch, on the formula."""
    figure, axis = one_panel(width=5.0, height=3.3)
    fine = np.geomspace(30, settings.batches[-1] * 2, 200)
    for i, (part, words) in enumerate(PARTS.items()):
        degree = K + 1 if part == "irrelevant" else K - 1
        style = "-" if i == 0 else "--"
        label = f"$\\Phi(\\sqrt{{B \\xi_{degree}^2 / 2}})$"
        axis.plot(fine, [predicted(batch, degree) for batch in fine], color=INKS[i], linestyle=style, label=label)
        found = [share_of(batch, part, table) for batch in settings.batches]
        values, bars = error_bars(found)
        axis.errorbar(settings.batches, values, bars, color=INKS[i], marker="os"[i], linestyle="none", label=words)
    axis.axhline(0.5, color="0.6", linewidth=0.6)
    title = f"One sign step, n = {N}, k = {K}: the half of the units that learns"
    dress(axis, xscale="log", xlabel="examples B", ylabel="share of weights", title=title, legend="beside")
    return {"sign-step": figure}
