"""Theorem 4 of hidden-progress (Theorem 10 in detail): one large step on the first layer, then SGD on the second.

A ReLU network of sign weights starts in pairs as the zero function. The first step has the rate 1 / (k |xi_{k-1}|) and
erases the old weights, so that what is left are population gradients: 1/(2k) in size at each relevant coordinate and
(k-1)/(n-k) times that at the others (Lemma 2). Its outputs are reset to 0, as the proof needs.
From there on the second layer alone is trained, with hinge loss. k = 4, and 768 units, which the theorem asks for at a
loss of 0.1.

The first step is taken exactly, for n from 31 to 1,001, and with a batch of B examples. The proof wants B large enough
that no entry of any gradient is off by much; what matters is the sum over the n coordinates of a neuron, so that
x = B xi_{k-1}**2 / n should be what counts: the error falls from one half to 0 between x = 0.2 and 3 at every n.
The theorem's own B is at x of about 10 million.

Not the theorem's: its rate 4 k**1.5 / (n sqrt(r T)) supposes units as large as n. After the first step they are at
most of order 1, so we leave out the n; with the n it would take 2**12 k**3 r n**2 / 0.1**2, about 10**13, steps.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

import paritylab as pl

from ...analysis.first_steps.sign_weights import BLOCK, OneStepMLP, presence_probability
from ...analysis.fourier.majority import majority_coefficients
from ...bounds import one_step_learning
from ...figures import INKS, Axes, Figures, ink, panels
from ...sweep import Results
from ..base import Claim, Measured, Region
from ..measures import bootstrap, exactly, fraction, proportion
from .shared.claims import about

K, WIDTH, LOSS = 4, 768, 0.1
POINTS = 8192
HALF_WAY = 0.25
"""The error at which the drop is half done."""
DROP = Region(0.2, 3)


@dataclass(frozen=True)
class Settings:
    exact: tuple[int, ...]
    """n with the exact first step."""
    sampled: tuple[int, ...]
    """n with a sampled one."""
    shares: tuple[float, ...]
    """B xi_{k-1}**2 / n."""
    seeds: int
    steps: int
    batch: int = 32


EXACT, SAMPLED, SHARES = (31, 51, 101, 201, 301, 501, 1001), (21, 31, 51, 101), (0.1, 0.2, 0.35, 0.6, 1.0, 1.8, 3.2)
SETTINGS = {
    "quick": Settings((31, 1001), (21, 31), (0.1, 0.3, 1.0, 3.2), seeds=6, steps=4000),
    "paper": Settings(EXACT, SAMPLED, SHARES, seeds=10, steps=20_000, batch=64),
}


def scale(n: int) -> float:
    """n / xi_{k-1}**2, the batch at x = 1."""
    return float(n / majority_coefficients(n)[K - 1] ** 2)


def batch_of(n: int, share: float) -> int:
    return max(1, round(share * scale(n) / BLOCK)) * BLOCK


def rate(settings: Settings) -> float:
    """The theorem's, for units of order 1."""
    return 4 * K**1.5 / math.sqrt(WIDTH * settings.steps)


def plan(settings: Settings) -> Iterator[pl.Plan]:
    """Training starts where the first step has ended; the second layer alone has a rate."""
    cases: list[tuple[int, float | None]] = [(n, None) for n in settings.exact]
    cases += [(n, share) for n in settings.sampled for share in settings.shares]
    for n, share in cases:
        parity = pl.Parity(n, support=range(K))
        yield pl.plan(
            pl.Uniform(parity),
            OneStepMLP(parity, WIDTH, batch=None if share is None else batch_of(n, share)),
            rate={"output.weight": rate(settings)},
            batch=settings.batch,
            seeds=settings.seeds,
            steps=settings.steps,
            records=pl.training.Recording((pl.FreshError(POINTS),), settings.steps),
            lanes=settings.seeds,
            labels={"first": "exact" if share is None else "sampled", "share": share or math.inf},
        )


class Data(NamedTuple):
    exact: pd.DataFrame
    """One row per run after an exact first step."""
    errors: dict[int, pd.DataFrame]
    """By n, after a sampled first step: the error of each seed (row) at each B xi**2 / n (column)."""


def read(settings: Settings, results: Results) -> Data:
    """The error on fresh points at the end of every run."""
    last = results.curves().sort_values("step").groupby("run", as_index=False).last()
    sampled = last[last["first"] == "sampled"]
    errors = {
        n: sampled[sampled.n == n].pivot(index="seed", columns="share", values="fresh_error") for n in settings.sampled
    }
    return Data(last[last["first"] == "exact"], errors)


def claims(settings: Settings) -> Iterator[Claim]:
    shares, last = np.array(settings.shares), settings.sampled[-1]
    for n in settings.exact:
        yield from of_exact_step(n)
    yield from (of_drop(n, shares) for n in settings.sampled)
    text = f"the same at n = {', '.join(map(str, settings.sampled))}: the largest over the smallest of these (ours)"
    most = lambda data: spread(shares, [*data.errors.values()])
    yield Claim("sampled/one-curve", text, None, Region(1, 2), most, theory=1.0)
    text = f"the theorem's batch at n = {last} is enough: how many times more than at the drop"
    more = lambda data: quotient(theorem_share(last), drop(shares, data.errors[last]))
    yield Claim("sampled/theorem-batch", text, None, Region(low=1), more)
    # The failure that Lemma 4 allows for the width: r >= k 2**(k+1) log((k+1) / delta).
    present = 1 - (K + 1) * math.exp(-WIDTH / (K * 2 ** (K + 1)))
    text = f"the start has all units that Lemma 3 needs, with {WIDTH} units; the probability"
    probability = lambda _: exactly(presence_probability(WIDTH, K))
    yield Claim("lemma4/presence", text, None, Region(low=present), probability, theory=present)


def of_exact_step(n: int) -> Iterator[Claim]:
    claim = about(f"exact/n{n}", f"n = {n}, exact first step", lambda data: data.exact[data.exact.n == n])
    mistakes = lambda runs: proportion(round(float(runs.fresh_error.sum()) * POINTS), POINTS * len(runs))
    text = f"the error on {POINTS:,} fresh points for each seed"
    yield claim("error", text, Region(high=0.001), mistakes, theory=0.0)
    text, learned = f"no mistake on {POINTS:,} points; the fraction of seeds", lambda runs: runs.outcome == "learned"
    yield claim("learns", text, Region(low=0.5), lambda runs: fraction(learned(runs)), theory=1.0)


def of_drop(n: int, shares: np.ndarray) -> Claim:
    text = "first step with B examples: B xi_3**2 / n at which the median error falls through 1/4 (ours)"
    return Claim(f"sampled/n{n}/drop", f"n = {n}, {text}", None, DROP, lambda data: drop(shares, data.errors[n]))


def crossing(shares: np.ndarray, errors: np.ndarray) -> float:
    """Where the median error falls through one quarter for the last time, between grid points along log x."""
    median = np.median(errors, axis=0)
    above = np.flatnonzero(median >= HALF_WAY)
    if not len(above):
        return float(shares[0])
    i = int(above[-1])
    if i == len(shares) - 1:
        return float(shares[-1])
    part = (median[i] - HALF_WAY) / (median[i] - median[i + 1])
    return float(shares[i] * (shares[i + 1] / shares[i]) ** part)


def drop(shares: np.ndarray, errors: pd.DataFrame) -> Measured:
    return bootstrap(errors.to_numpy(float), lambda rows: crossing(shares, rows))


def spread(shares: np.ndarray, errors: list[pd.DataFrame]) -> Measured:
    """The largest crossing over the smallest; all n share the seeds."""
    together = np.stack([each.to_numpy(float) for each in errors], axis=1)
    crossings = lambda rows: [crossing(shares, rows[:, i]) for i in range(rows.shape[1])]
    return bootstrap(together, lambda rows: max(crossings(rows)) / min(crossings(rows)))


def theorem_share(n: int) -> float:
    """The theorem's batch, as B xi**2 / n."""
    return one_step_learning(n, K, loss=LOSS).part("batch") / scale(n)


def quotient(value: float, by: Measured) -> Measured:
    low, high = by.interval
    return Measured(value / by.value, (value / high, value / low if low > 0 else math.inf))  # a drop is above 0


def plot(settings: Settings, data: Data) -> Figures:
    """Error against the batch, at every n; time to no mistake with the exact step."""
    figure, axes = panels(1, 2, width=4.2, height=3.1)
    draw_sampled(axes[0, 0], data.errors)
    draw_exact(axes[0, 1], data.exact, settings)
    figure.suptitle(f"One large step, then the second layer: the parity of {K} out of n bits")
    return {"theorem4": figure}


def draw_sampled(axis: Axes, errors: dict[int, pd.DataFrame]) -> None:
    """Medians over seeds, all seeds as dots."""
    axis.axvspan(DROP.low, DROP.high, color="0.92", linewidth=0, label="drop between 0.2 and 3")
    for i, (n, table) in enumerate(errors.items()):
        axis.plot(table.columns, table.median(), label=f"n = {n}, B = {scale(n):,.0f} x", marker="os^D"[i % 4],
                  markersize=4, **ink(i))  # fmt: skip
        for share in table.columns:
            axis.plot([share] * len(table), table[share], ".", color=INKS[i], markersize=2.5, alpha=0.6)
    theorem = theorem_share(max(errors))
    axis.annotate(f"theorem's B: x = {theorem:,.0f}", (0.97, 0.93), xycoords="axes fraction", ha="right", fontsize=7)
    axis.set(xscale="log", ylim=(-0.02, 0.6), xlabel="x = B $\\xi_{k-1}^2$ / n", ylabel="error on fresh points")
    axis.set_title("First step with B examples")
    axis.legend(fontsize=7, loc="lower left")


def draw_exact(axis: Axes, runs: pd.DataFrame, settings: Settings) -> None:
    """Steps of the second layer until no mistake is left."""
    rows = runs[runs.outcome == "learned"]
    axis.plot(rows.n, rows.converged_at.astype(float), "o", color=INKS[0], markersize=3.5, label="a seed")
    medians = rows.groupby("n").converged_at.median().astype(float)
    axis.plot(medians.index, medians, color=INKS[0], linewidth=0.9, label="median")
    axis.set(xscale="log", xlabel="n", ylabel=f"steps until no mistake\non {POINTS:,} points", ylim=(0, None))
    axis.set_xticks(settings.exact, [f"{n:,}" for n in settings.exact])
    axis.minorticks_off()
    axis.set_title("Exact first step: all learn")
    axis.legend(fontsize=7)
