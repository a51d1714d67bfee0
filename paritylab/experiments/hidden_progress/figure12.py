"""Figure 12 of hidden-progress: Fourier gaps of sinusoidal neurons, at the start and along SGD.

Left: the gap Gamma = max over S of |g_i| less max over the rest of g = E[y x_i sin(w . x / sqrt(n))], for random w and
the parity y of the first k of n = 15 coordinates. It is said to be comparable to that of majority (sign weights and
ReLU, the dashed line). Uniform entries are taken from [-1, 1], Gaussian ones have variance 1.

Right: the gap of a neuron's population gradient along its path of SGD, ten trials. It is said to be positive at the
start, somewhat smaller than majority's, and to grow through training. The paper gives no settings. We take n = 15,
k = 4, batches of 32 and hinge loss, uniform weights and a trained bias, and two activations: sin(z + shift), whose
slope is the function on the left, at rate 0.1; and setting (xiv), sin(pi z / 2 + shift), at rate 0.03. The shift is
pi/2 * (1 - k). A learned parity has slope 0 at every point, so that the gap must fall again in the end.

All gaps are exact: g is a product over coordinates (`gradient_of_sinusoid`).
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
import pandas as pd
from jaxtyping import Array

import paritylab as pl

from ...analysis.gradients.gaps import majority_gap, weak_gap
from ...analysis.gradients.population import gradient_of_sinusoid, turns_of
from ...figures import INKS, Axes, Figures, ink, panels
from ...sweep import Call, Results
from ..base import Claim, Null, Region, within_factor
from ..measures import fraction, median
from .shared.claims import about

N, K, BATCH = 15, 4, 32
NAMES = {"uniform": "uniform", "gaussian": "Gaussian"}
DISTRIBUTIONS = tuple(NAMES)
DEGREES = (2, 4)
SHOWN = 10
"""Trials that are drawn, as in the paper."""


@dataclass(frozen=True)
class Settings:
    draws: int
    seeds: int
    steps: int = 20_000


SETTINGS = {"quick": Settings(draws=2_000, seeds=40), "paper": Settings(draws=20_000, seeds=400)}

FASTER = (
    "The gap at small weights is proportional to the k-th power of the sinusoid's frequency, here (pi/2)**4 = 6.1 "
    "times that of sin(z + shift). The paper does not say which frequency it drew; with sin(z + shift), the function "
    "of its left panel, the sentence holds."
)


@dataclass(frozen=True)
class Path:
    """A way to train the neuron on the right."""

    name: str
    title: str
    activation: pl.networks.Sinusoid
    rate: float


PATHS = (
    Path("sin", "$\\sin(w \\cdot x + b+ \\mathrm{shift})$", pl.networks.Sinusoid(K, scale=2 / np.pi), 0.1),
    Path("sin-half-pi", "(xiv) $\\sin(\\pi(w \\cdot x + b)/2+ \\mathrm{shift})$", pl.networks.Sinusoid(K), 0.03),
)


class NeuronParameters(pl.AbstractRecord):
    """The weights of a neuron and, last, its bias."""

    name = "neuron_parameters"  # not "weights": in one store a column has one shape

    def __call__(self, snapshot: pl.training.Snapshot) -> Array:
        hidden = snapshot.network.hidden
        return jnp.append(hidden.weight, hidden.bias)


def gaps_of_random_sinusoids(law: str, n: int, k: int, draws: int) -> pd.DataFrame:
    """Gamma of E[y x_i sin(w . x / sqrt(n))] for some random w."""
    rng = np.random.default_rng([DISTRIBUTIONS.index(law), n, k])
    weights = rng.uniform(-1, 1, (draws, n)) if law == "uniform" else rng.normal(size=(draws, n))
    slopes = gradient_of_sinusoid(weights / np.sqrt(n), range(k), phase=-np.pi / 2)
    return pd.DataFrame({"draw": np.arange(draws), "gap": weak_gap(slopes.weight, range(k))})


def plan(settings: Settings) -> Iterator[Call | pl.Plan]:
    for k, law in itertools.product(DEGREES, DISTRIBUTIONS):
        configuration = {"law": law, "n": N, "k": k, "draws": settings.draws}
        yield Call(gaps_of_random_sinusoids, configuration, {"panel": f"left/k{k}/{law}"}, seconds=0.1)
    for path in PATHS:
        yield pl.plan(
            pl.Uniform(pl.Parity(N, support=range(K))),
            pl.Neuron(path.activation),
            batch=BATCH,
            rate=path.rate,
            seeds=settings.seeds,
            steps=settings.steps,
            records=pl.training.Recording((NeuronParameters(),), 10),
            labels={"panel": f"right/{path.name}"},
        )


class Gaps(NamedTuple):
    start: pd.DataFrame
    """One row per draw of random weights."""
    along: pd.DataFrame
    """One row per run and recorded step."""


def read(settings: Settings, results: Results) -> Gaps:
    return Gaps(results.table(), paths(results))


def paths(results: Results) -> pd.DataFrame:
    """The gap along every run, step by step."""
    curves = results.curves()
    parts = []
    for path in PATHS:
        rows = curves[curves.panel == f"right/{path.name}"].sort_values("step")
        numbers = np.array(rows.neuron_parameters.tolist())
        weights, bias, (frequency, phase) = numbers[:, :-1], numbers[:, -1], turns_of(path.activation)
        gradient = gradient_of_sinusoid(weights, range(K), bias=bias, frequency=frequency, phase=phase)
        parts.append(rows[["panel", "run", "seed", "step"]].assign(gap=weak_gap(gradient.weight, range(K))))
    return pd.concat(parts)


def claims(settings: Settings) -> Iterator[Claim]:
    for k, law in itertools.product(DEGREES, DISTRIBUTIONS):
        yield from of_start(k, law)
    for path in PATHS:
        yield from of_path(path)
    quotient, names = (np.pi / 2) ** K, tuple(f"right/{path.name}" for path in PATHS)
    text = (
        "the gap at the start goes with the k-th power of the sinusoid's frequency; that of setting (xiv) over that of "
    )
    text += "sin(z + shift) from the same weights, median over trials"
    null = Null("a gap that does not depend on the frequency", 1)
    measure = lambda data: median(quotients(data.along, *names))
    yield Claim("right/frequency", text, None, within_factor(quotient, 1.5), measure, theory=quotient, null=null)


def quotients(along: pd.DataFrame, below: str, above: str) -> np.ndarray:
    """For each seed, the first gap of one way to train over that of another."""
    first = along.sort_values("step").groupby(["panel", "seed"]).gap.first()
    return (first[above] / first[below]).to_numpy(float)


def of_start(k: int, law: str) -> Iterator[Claim]:
    words = f"{NAMES[law]} weights, k = {k}"
    claim = about(f"left/k{k}/{law}", words, lambda data: start_of(data, k, law))
    quotient, text = lambda gaps: median(gaps / majority_gap(N, k).weak), "the median gap over majority's is of order 1"
    yield claim("comparable", text, Region(0.25, 4), quotient, null=Null("no gap", 0))


def of_path(path: Path) -> Iterator[Claim]:
    panel = f"right/{path.name}"
    tests = ("right/frequency", "right/sin/smaller")
    why = {"explanation": FASTER, "tested_by": tests} if path.name == "sin-half-pi" else {}
    claim = about(panel, path.name, lambda data: data.along[data.along.panel == panel].groupby("run").gap)
    text = "the gap is positive at the start; the fraction of trials"
    yield claim("positive", text, Region(low=0.8), lambda runs: fraction(runs.first() > 0), null=Null("chance", K / N))
    text = "at the start it is somewhat smaller than majority's; the median quotient"
    quotient = lambda runs: median(runs.first() / majority_gap(N, K).weak)
    yield claim("smaller", text, Region(0.1, 1), quotient, null=Null("no gap", 0), **why)
    text = "it grows in training; the median of its largest value over its first"
    measure, null = lambda runs: median(runs.max() / runs.first()), Null("a gap that stays", 1)
    yield claim("grows", text, Region(low=10), measure, null=null)


def start_of(data: Gaps, k: int, law: str) -> np.ndarray:
    return data.start[data.start.panel == f"left/k{k}/{law}"].gap.to_numpy(float)


def plot(settings: Settings, data: Gaps) -> Figures:
    """Two histograms, and two ways to train; majority's gap as a line in each."""
    figure, axes = panels(2, 2, width=3.6, height=2.4)
    for axis, k in zip(axes[:, 0], DEGREES, strict=True):
        draw_start(axis, data, k)
    for axis, path in zip(axes[:, 1], PATHS, strict=True):
        draw_path(axis, data.along[data.along.panel == f"right/{path.name}"], path)
    axes[0, 0].legend(fontsize=7)
    axes[1, 0].set_xlabel("Fourier gap $\\Gamma$ at random weights")
    axes[1, 1].set_xlabel("step of SGD")
    figure.suptitle(f"Fourier gaps of sinusoidal neurons, n = {N} (dashed: majority; dots: learned)")
    return {"figure12": figure}


def draw_start(axis: Axes, data: Gaps, k: int) -> None:
    """Histograms of both distributions."""
    majority = majority_gap(N, k).weak
    shown = {law: start_of(data, k, law) for law in DISTRIBUTIONS}
    bins = np.linspace(0, max(np.quantile(np.concatenate([*shown.values()]), 0.985), 1.3 * majority), 45).tolist()
    for i, (law, gaps) in enumerate(shown.items()):
        axis.hist(gaps, bins=bins, histtype="step", label=f"{NAMES[law]} weights", **ink(i))
    axis.axvline(majority, color="#a01010", linestyle="--", linewidth=1, label="majority")
    axis.set(title=f"$\\sin(w \\cdot x/\\sqrt{{n}})$, k = {k}", ylabel="neurons")


def draw_path(axis: Axes, along: pd.DataFrame, path: Path) -> None:
    """The first trials, on a logarithmic axis of gaps; a dot where the neuron has learned."""
    shown = along[along.seed < SHOWN]
    for seed, curve in shown.groupby("seed"):
        color = INKS[int(seed) % len(INKS)]
        axis.plot(curve.step, curve.gap.where(curve.gap > 0), color=color, linewidth=0.9)
        axis.plot(curve.step.iloc[-1:], curve.gap.iloc[-1:], "o", color=color, markersize=3)
    axis.axhline(majority_gap(N, K).weak, color="#a01010", linestyle="--", linewidth=1)
    reach = 1.3 * float(shown.groupby("seed").step.max().median())  # a slow trial does not stretch the axis
    axis.set(yscale="log", ylabel="Fourier gap $\\Gamma$", ylim=(1e-4, 1), xlim=(0, reach))
    axis.set_title(f"{path.title}\nk = {K}, batch {BATCH}, rate {path.rate}")
