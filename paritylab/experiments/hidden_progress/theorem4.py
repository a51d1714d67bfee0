"""Theorem 4 of hidden-progress (Theorem 10 in detail): one large step on the first layer, then SGD on the second.

A ReLU network of sign weights starts in pairs as the zero function. The first step has the rate 1 / (k |xi_{k-1}|) and
erases the old weights, so that what is left are population gradients: 1/(2k) in size at each relevant coordinate and
(k-1)/(n-k) times that at the others (Lemma 2). Its outputs are reset to 0, as the proof needs.
From there on the second layer alone is trained, with hinge loss. k = 4, and 768 units, which the theorem asks for at a
loss of 0.1; at paper scale k = 6 with the exact step, too.

The first step is taken exactly, for n from 31 to 1,001, and with a batch of B examples. The proof wants B large enough
that no entry of any gradient is off by much; what matters is the sum over the n coordinates of a neuron. Its noise is
sqrt(n / (2 B)) / (k |xi|), and the sums over the support, which the second layer has to tell apart, are 1/k apart: they
are equal at x = B xi_{k-1}**2 / n = 1/2, where the error should fall, at every n. The theorem's own B is at x of about
10 million, which the exact step stands for: its claim, a hinge loss of at most 0.1, is judged there.

At odd k there is nothing to find: the slope of a ReLU of sign weights is half of majority plus one half, whose
coefficients of even degree are 0, so that the gradient is exactly 0; a bias beyond 1 breaks the symmetry (C.2). Lemma 4
is judged by drawing starts.

Not the theorem's: its rate 4 k**1.5 / (n sqrt(r T)) supposes units as large as n. After the first step they are at
most of order 1, so we leave out the n; with the n it would take 2**12 k**3 r n**2 / 0.1**2, about 10**13, steps.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pandas as pd
from jaxtyping import Array, PRNGKeyArray

import paritylab as pl

from ...analysis.first_steps.sign_weights import BLOCK, OneStepMLP, parity_outputs, presence_probability
from ...analysis.fourier.majority import majority_coefficients
from ...analysis.gradients.sums import gradient_by_sums
from ...bounds import one_step_learning
from ...figures import INKS, Axes, Figures, ink, panels
from ...sweep import Call, Results
from ..base import Claim, Measured, Null, Region, within_factor
from ..measures import bootstrap, exactly, fraction, mean, proportion
from .shared.claims import about
from .shared.curves import NEVER

K, HIGHER, WIDTH, LOSS = 4, 6, 768, 0.1
POINTS = 8192
HALF_WAY = 0.25
"""The error at which the drop is half done."""
DROP = within_factor(0.5, 2)
"""Where noise is as large as what it hides, give or take a factor of 2."""
ODD_SIZE, SHIFT = 31, 2.5
"""n, and the bias, with which gradients at odd k are computed."""
FAILURE = 0.05
"""That Lemma 4 allows."""


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
    higher: tuple[int, ...] = ()
    """n with the exact first step at k = 6."""
    starts: int = 400
    """Random starts for Lemma 4."""


EXACT, SAMPLED, SHARES = (31, 51, 101, 201, 301, 501, 1001), (21, 31, 51, 101), (0.1, 0.2, 0.35, 0.6, 1.0, 1.8, 3.2)
SETTINGS = {
    "quick": Settings((31, 101), (21, 31), (0.1, 0.3, 1.0, 3.2), seeds=6, steps=4000),
    "paper": Settings(EXACT, SAMPLED, SHARES, seeds=10, steps=20_000, batch=64, higher=(101, 501), starts=4000),
}


def scale(n: int) -> float:
    """n / xi_{k-1}**2, the batch at x = 1."""
    return float(n / majority_coefficients(n)[K - 1] ** 2)


def batch_of(n: int, share: float) -> int:
    return max(1, round(share * scale(n) / BLOCK)) * BLOCK


def width_of(k: int) -> int:
    """The theorem's, for a loss of 0.1."""
    return WIDTH if k == K else 2 * math.ceil(one_step_learning(101, k, loss=LOSS).part("width") / 2)


def rate(settings: Settings, k: int) -> float:
    """The theorem's, for units of order 1."""
    return 4 * k**1.5 / math.sqrt(width_of(k) * settings.steps)


def lemma4_width(k: int) -> int:
    """r = k 2**(k+1) log((k+1) / delta), in pairs."""
    return 2 * math.ceil(k * 2 ** (k + 1) * math.log((k + 1) / FAILURE) / 2)


def drawn_starts(width: int, k: int, starts: int) -> dict[str, float]:
    """The fraction of random starts that have, for each bias of Lemma 3, a pair whose weights on the support agree."""
    n = 2 * k + 1
    wanted = np.rint(k * parity_outputs(k)[0])

    def has_all(key: PRNGKeyArray) -> Array:
        first = pl.MLP(width, pl.relu, pl.networks.SignInitialization(k), paired=True)(n, key=key).hidden[0]
        agree = jnp.abs(jnp.sum(first.weight[:, :k], axis=1)) == k
        found = agree[:, None] & (jnp.abs(k * first.bias[:, None] - wanted[None]) < 0.5)
        return jnp.all(jnp.any(found, axis=0))

    keys = jr.split(pl.root_key(k), starts)
    return {"present": float(jnp.mean(jax.lax.map(has_all, keys), dtype=jnp.float32)), "starts": starts}


def largest_gradient(k: int, n: int, bias: float) -> dict[str, float]:
    """The largest entry of the exact gradient of a ReLU neuron with weights 1."""
    return {"gradient": float(np.abs(gradient_by_sums(np.ones(n, int), range(k), pl.relu, bias=bias).weight).max())}


def calls(settings: Settings) -> Iterator[Call]:
    for part in (1, 4):
        width = lemma4_width(K) // part // 2 * 2
        given = {"width": width, "k": K, "starts": settings.starts}
        yield Call(drawn_starts, given, {"part": f"lemma4/{part}"}, seconds=settings.starts / 100)
    for k, bias in itertools.product((3, 4, 5), (0.5, SHIFT)):
        odd = {"k": k, "n": ODD_SIZE, "bias": bias}
        yield Call(largest_gradient, odd, {"part": f"gradient/k{k}/b{bias:g}"}, seconds=1)


def plan(settings: Settings) -> Iterator[Call | pl.Plan]:
    """Training starts where the first step has ended; the second layer alone has a rate."""
    yield from calls(settings)
    cases: list[tuple[int, int, float | None]] = [(K, n, None) for n in settings.exact]
    cases += [(HIGHER, n, None) for n in settings.higher]
    cases += [(K, n, share) for n in settings.sampled for share in settings.shares]
    for k, n, share in cases:
        parity = pl.Parity(n, support=range(k))
        yield pl.plan(
            pl.Uniform(parity),
            OneStepMLP(parity, width_of(k), batch=None if share is None else batch_of(n, share)),
            rate={"output.weight": rate(settings, k)},
            batch=settings.batch,
            seeds=settings.seeds,
            steps=settings.steps,
            validation=0 if share is None else POINTS,
            records=pl.training.Recording((pl.FreshError(POINTS), pl.training.FreshLoss(POINTS)), settings.steps),
            lanes=settings.seeds,
            labels={"degree": k, "first": "exact" if share is None else "sampled", "share": share or math.inf},
        )


class Data(NamedTuple):
    exact: pd.DataFrame
    """One row per run after an exact first step."""
    errors: dict[int, pd.DataFrame]
    """By n, after a sampled first step: the error of each seed (row) at each B xi**2 / n (column)."""
    parts: pd.DataFrame
    """What was called: starts and gradients."""

    def part(self, name: str, column: str) -> float:
        return float(self.parts[self.parts.part == name][column].iloc[0])


def read(settings: Settings, results: Results) -> Data:
    """The error on fresh points at the end of every run."""
    last = results.curves().sort_values("step").groupby("run", as_index=False).last()
    sampled = last[last["first"] == "sampled"]
    errors = {
        n: sampled[sampled.n == n].pivot(index="seed", columns="share", values="fresh_error") for n in settings.sampled
    }
    table = results.table()
    return Data(last[last["first"] == "exact"], errors, table[table.part.notna()])


def claims(settings: Settings) -> Iterator[Claim]:
    shares = np.array(settings.shares)
    for k, n in (*((K, n) for n in settings.exact), *((HIGHER, n) for n in settings.higher)):
        yield from of_exact_step(k, n)
    yield from (of_drop(n, shares) for n in settings.sampled)
    text = f"the same at n = {', '.join(map(str, settings.sampled))}: the largest over the smallest of these (ours)"
    most = lambda data: spread(shares, [*data.errors.values()])
    other = Null("one batch for all n", scale(settings.sampled[-1]) / scale(settings.sampled[0]))
    yield Claim("sampled/one-curve", text, None, Region(1, 2), most, theory=1.0, null=other)
    yield from of_odd_degrees()
    width = lemma4_width(K)
    text = (
        f"the start has all units that Lemma 3 needs, with the {width} units of Lemma 4 for a failure of {FAILURE:g}; "
    )
    text += f"the fraction of {settings.starts:,} starts"
    present = lambda data: proportion(round(data.part("lemma4/1", "present") * settings.starts), settings.starts)
    quarter = Null("a quarter of the width", lambda data: data.part("lemma4/4", "present"))
    known = presence_probability(width, K)
    yield Claim("lemma4/presence", text, None, Region(low=1 - FAILURE), present, theory=known, null=quarter)


def of_exact_step(k: int, n: int) -> Iterator[Claim]:
    name, words = f"exact/n{n}" if k == K else f"exact/k{k}/n{n}", f"n = {n}, k = {k}, exact first step"
    claim = about(name, words, lambda data: data.exact[(data.exact.n == n) & (data.exact.degree == k)])
    mistakes = lambda runs: proportion(round(float(runs.fresh_error.sum()) * POINTS), POINTS * len(runs))
    text = f"the error on {POINTS:,} fresh points for each seed"
    yield claim("error", text, Region(high=0.001), mistakes, theory=0.0, null=Null("chance", 0.5))
    text, right = f"no mistake on {POINTS:,} fresh points; the fraction of seeds", lambda runs: runs.fresh_error == 0
    yield claim("learns", text, Region(low=0.5), lambda runs: fraction(right(runs)), theory=1.0, null=NEVER)
    text = f"the expected hinge loss is at most {LOSS}; the mean over seeds"
    hinge = lambda runs: mean(runs.fresh_loss)
    yield claim("hinge", text, Region(high=LOSS), hinge, paper=LOSS, null=Null("the zero function", 1))


def of_drop(n: int, shares: np.ndarray) -> Claim:
    text = "first step with B examples: B xi_3**2 / n at which the median error falls through 1/4 (ours)"
    measure, null = lambda data: drop(shares, data.errors[n]), Null("a batch that never suffices", math.inf)
    return Claim(f"sampled/n{n}/drop", f"n = {n}, {text}", None, DROP, measure, theory=0.5, null=null)


def of_odd_degrees() -> Iterator[Claim]:
    """The first step sees nothing at odd k, unless a bias breaks the symmetry."""
    for k, bias in itertools.product((3, 4, 5), (0.5, SHIFT)):
        zero = k % 2 == 1 and bias < 1
        text = (
            f"n = {ODD_SIZE}, k = {k}, bias {bias:g}: the first step has {'nothing' if zero else 'something'} to find; "
        )
        text += "the largest entry of the exact gradient of a ReLU neuron with sign weights"
        region = Region(0, 1e-12) if zero else Region(low=1e-4)
        least = abs(float(majority_coefficients(ODD_SIZE)[3])) / 2
        null = Null("majority's coefficient at k = 4", least) if zero else Null("unbiased majority at odd k", 0)
        part = f"gradient/k{k}/b{bias:g}"
        measure = lambda data, part=part: exactly(data.part(part, "gradient"))
        yield Claim(part, text, None, region, measure, null=null)


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


def plot(settings: Settings, data: Data) -> Figures:
    """Error against the batch, at every n; time to no mistake with the exact step."""
    figure, axes = panels(1, 2, width=4.2, height=3.1)
    draw_sampled(axes[0, 0], data.errors)
    draw_exact(axes[0, 1], data.exact, settings)
    figure.suptitle(f"One large step, then the second layer: the parity of {K} out of n bits")
    return {"theorem4": figure}


def draw_sampled(axis: Axes, errors: dict[int, pd.DataFrame]) -> None:
    """Medians over seeds, all seeds as dots."""
    axis.axvline(0.5, color="0.5", linewidth=0.9, linestyle=":", label="noise as large as the signal")
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
    """Hinge loss and error after the last step."""
    for i, (k, rows) in enumerate(runs.groupby("degree")):
        label = f"k = {k}: "
        axis.plot(rows.n, rows.fresh_loss, "os"[i], color=INKS[i], markersize=3.5, label=f"{label}hinge loss, a seed")
        axis.plot(rows.n, np.maximum(rows.fresh_error, 0.3 / POINTS), "x+"[i], color="0.4", markersize=4,
                  label=f"{label}error (lowest: none)")  # fmt: skip
    axis.axhline(LOSS, color="#a01010", linestyle="--", linewidth=0.9, label=f"theorem: {LOSS:g}")
    axis.set(xscale="log", yscale="log", xlabel="n", ylabel=f"on {POINTS:,} fresh points", ylim=(0.2 / POINTS, 1.5))
    axis.set_xticks(settings.exact, [f"{n:,}" for n in settings.exact])
    axis.minorticks_off()
    axis.set_title("Exact first step")
    axis.legend(fontsize=6.5)
