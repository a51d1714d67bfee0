"""Parity with and without its intermediate steps: arXiv 2410.08633 (Kim, Suzuki) and 2410.05459 (Wen et al.).

*One matrix of scores.* d = 64, a random k-parity, k - 1 nodes of a binary tree as steps, full-batch gradient descent on
100,000 points for 350 epochs; a softmax-weighted mean of what comes before, then a fixed link that makes two signs
their product. Four models of the paper, rate eta = 15, 50, 100 for k = 8, 16, 32: *direct* (loss of the answer alone,
rate eta / 100), *chain* (loss of all steps, which the network says itself, level by level), *forced* (the steps before
are given in training), *consistent* (as chain; a level says 0 until the one below is sure). "The direct model ...
completely fails", "the prediction error is stuck at 0.5"; teacher forcing "always learns efficiently"; with
self-consistency "two or three distinct learning stages" for k = 8, 16; the basic chain "manages to fully solve the
problem for k = 8 ... but not for k = 16, 32". Losses are half of squared errors on points that no step has seen, with
nothing given.

Readings. A level is sure once *each* of its nodes has a score above .4 ("checks if any softmax score exceeds a
threshold value"). "Adding a 10% fraction of the gradient from the prediction loss" is said of self-consistency; it may
be meant for all models with a chain, so that *chain-10* is the chain with it. Members of the sample are drawn once.
Quick: 8,192 points; k = 8, and k = 32 for the direct model, whose curve the paper's sentence is about.

*A causal Transformer.* n = 30, k = 1 to 4, GPT-2 (4 layers, 4 heads, hidden 720, Adam clipped at 1, rate 6e-5, 8e-5 or
1e-4 falling to 0 over 10^7 samples, batch 512); running products before each secret position, then the parity. "With
CoT", samples until all labelled tokens of 2,048 points are right grow slowly with k, without "exponentially". Right
throughout with given steps and with its own are one thing (the first wrong token is the same), so that runs are
validated on their own steps. Readings: float32 for bfloat16, no dropout, any secret positions (the paper never takes
the last). Paper scale: two layers of hidden 128, rates 3e-4 and 1e-3, batch 256. Quick: n = 12, one layer of hidden
32, rate .003, batch 128, at most 256,000 samples, 512 points; so many samples bound the others' from below.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import optax
import pandas as pd

import paritylab as pl

from ...distributions import RandomChain
from ...figures import INKS, Figures, panels
from ...networks import CausalTransformer, OneMatrix
from ...sweep import Results
from ...targets import random_running_parity, random_tree_parity
from ...training import ChainLoss, LinearFall, OutputLosses, Recording
from ...training.rules.optimizers import constant
from ..base import Claim, Measured, Null, Region
from ..drawing import dress
from ..measures import fraction, least, mean, median

D = 64
SURE = 0.4
RATES = {8: 15.0, 16: 50.0, 32: 100.0}
SOLVED = 0.05
"""A loss below it is of a step that is solved; half of a squared error is 2 where a sign is wrong."""


@dataclass(frozen=True)
class Model:
    """What is trained: its mask and filter, whether steps are given, the loss, the factor of the rate."""

    title: str
    mask: Any
    confidence: float | None
    forced: bool
    loss: ChainLoss
    factor: float = 1.0


MODELS = {
    "direct": Model("direct", "position", None, False, ChainLoss(0.0, 1.0), 0.01),
    "chain": Model("chain", "level", None, False, ChainLoss()),
    "chain-10": Model("chain, 10% of the answer's gradient", "level", None, False, ChainLoss(1.0, 0.1)),
    "forced": Model("teacher forcing", "position", None, True, ChainLoss()),
    "consistent": Model("self-consistency", "level", SURE, False, ChainLoss(1.0, 0.1)),
}


@dataclass(frozen=True)
class Sizes:
    """Of the causal Transformer."""

    n: int
    ks: tuple[int, ...]
    network: tuple[int, int, int]
    rates: tuple[float, ...]
    batch: int
    steps: int
    every: int
    validation: int
    seeds: int


@dataclass(frozen=True)
class Settings:
    grid: tuple[tuple[int, tuple[str, ...], int], ...]
    """For each k the models that are trained, and with how many seeds."""
    points: int
    epochs: int
    """Those of the paper."""
    longer: int
    """Those of self-consistency here."""
    causal: Sizes


SETTINGS = {
    "quick": Settings(
        ((8, tuple(MODELS), 6), (32, ("direct",), 3)), 8_192, 350, 500,
        Sizes(12, (1, 2, 3), (32, 1, 4), (0.003,), 128, 2_000, 20, 512, 6),
    ),
    "paper": Settings(
        tuple((k, tuple(MODELS), 20) for k in RATES), 100_000, 350, 700,
        Sizes(30, (1, 2, 3, 4), (128, 2, 4), (3e-4, 1e-3), 256, 6_000, 20, 1024, 4),
    ),
}  # fmt: skip


def clipped_adam(rate: Any) -> optax.GradientTransformation:
    """Adam on gradients of norm at most 1."""
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adam(rate))


def plan(settings: Settings) -> Iterator[pl.Plan]:
    for k, models, seeds in settings.grid:
        for name in models:
            model, last = MODELS[name], settings.longer if name == "consistent" else settings.epochs
            yield pl.plan(
                RandomChain(random_tree_parity, (D, k), forced=model.forced),
                OneMatrix(k - 1, model.mask, model.confidence),
                rate=RATES[k] * model.factor, loss=model.loss, batch=settings.points, sample=settings.points,
                seeds=seeds, steps=last, every=10, validation=0, lanes=1,
                records=Recording((OutputLosses(points=2048),), 10), labels={"part": "matrix", "model": name, "k": k},
            )  # fmt: skip
    yield from of_the_transformer(settings.causal)


def of_the_transformer(sizes: Sizes) -> Iterator[pl.Plan]:
    falling = sizes.steps * sizes.batch >= 10**7
    for k, way in itertools.product(sizes.ks, ("chain", "direct")):
        chained = way == "chain"
        make = (
            RandomChain(random_running_parity, (sizes.n, k))
            if chained
            else pl.RandomTask(pl.random_parity, (sizes.n, k))
        )
        yield pl.plan(
            make, CausalTransformer(*sizes.network, outputs=k + 1 if chained else None), rate=sizes.rates,
            loss="logistic", optimizer=clipped_adam, batch=sizes.batch, seeds=sizes.seeds, steps=sizes.steps,
            every=sizes.every, validation=sizes.validation, lanes=sizes.seeds,
            labels={"part": "causal", "model": way, "k": k},
            schedule=LinearFall(sizes.steps) if falling else constant,
        )  # fmt: skip


@dataclass(frozen=True)
class Data:
    """What the claims are measured on."""

    losses: pd.DataFrame
    """One matrix: for each run and epoch the loss of all steps, of the answer, and of each level."""
    samples: pd.DataFrame
    """Causal: for each way, k and seed the samples until all is right, or as many as were seen."""


def read(settings: Settings, results: Results) -> Data:
    curves = results.curves()
    curves = curves[curves.part == "matrix"]
    rows = []
    for row in curves.itertuples():
        each = np.asarray(row.output_losses, float) / 2
        levels = np.split(
            each, np.cumsum([(len(each) + 1) >> (i + 1) for i in range(int(math.log2(len(each) + 1)) - 1)])
        )
        one = {"model": row.model, "k": int(row.k), "seed": int(row.seed), "epoch": int(row.step)}
        rows.append({**one, "steps": each.mean(), "answer": each[-1], "levels": [level.max() for level in levels]})
    runs = results.table()
    runs = runs[runs.part == "causal"].copy()
    runs["samples"] = runs.steps.astype(float) * settings.causal.batch
    runs["rate"] = runs.rate.astype(float)
    medians = runs.groupby(["model", "k", "rate"]).samples.median().reset_index().sort_values("samples")
    best = medians.groupby(["model", "k"]).first().reset_index()[["model", "k", "rate"]]
    return Data(
        pd.DataFrame(rows), runs.merge(best, on=["model", "k", "rate"])[["model", "k", "seed", "samples", "outcome"]]
    )


def of_runs(data: Data, model: str, k: int, epochs: int, column: str = "answer") -> np.ndarray:
    """The loss of each run (rows) at each recorded epoch up to this one."""
    part = data.losses[(data.losses.model == model) & (data.losses.k == k) & (data.losses.epoch <= epochs)]
    return part.pivot(index="seed", columns="epoch", values=column).to_numpy(float)


def solved(model: str, k: int, epochs: int, data: Data) -> Measured:
    """The fraction of runs whose answer is solved at some recorded epoch."""
    return fraction(of_runs(data, model, k, epochs).min(axis=1) < SOLVED)


def at_the_end(model: str, k: int, epochs: int, data: Data) -> Measured:
    """The mean over runs of the loss of the answer."""
    return mean(of_runs(data, model, k, epochs)[:, -1])


def in_stages(model: str, k: int, data: Data) -> Measured:
    """The fraction of runs in which every level is solved 20 epochs or more after the one below it."""
    part = data.losses[(data.losses.model == model) & (data.losses.k == k)].sort_values("epoch")
    found = []
    for _, run in part.groupby("seed"):
        low = np.stack(run.levels.to_list()) < SOLVED
        epochs = run.epoch.to_numpy()
        times = [epochs[each.argmax()] if each.any() else math.inf for each in low.T]
        found.append(bool(np.isfinite(times[:-1]).all() and np.all(np.diff(times) >= 20)))
    return fraction(found)


def claims(settings: Settings) -> Iterator[Claim]:
    for k, models, _ in settings.grid:
        head = f"d = {D}, k = {k}, {settings.points:,} points, {settings.epochs} epochs"
        for name in models:
            yield from CLAIMS[name](settings, head, k)
    yield from of_samples(settings.causal)


def of_direct(settings: Settings, head: str, k: int) -> Iterator[Claim]:
    epochs = settings.epochs
    statement = (
        f"{head}: without steps in the loss nothing is learned; the least loss of the answer of all runs and epochs"
    )
    null = Null("a solved answer", 0.0)
    measure = lambda data: least(of_runs(data, "direct", k, epochs))
    yield Claim(f"k{k}/direct/fails", statement, 0.5, Region(low=0.45), measure, null=null)
    statement = (
        f"{head}: 'the prediction error is stuck at 0.5' without steps in the loss; the answer's at the end, mean "
        "over runs"
    )
    explanation = (
        "At the start the answer is the link of a mean of many signs, nearly -1, for a loss of nearly 1. To say 0 the "
        "answer has to attend to steps that are nearly constant, of which there are few at k = 8, and the rate is "
        "small; at k = 32 it does."
    )
    null = Null(
        "the start, nearly -1 everywhere", lambda data: float(np.median(of_runs(data, "direct", k, epochs)[:, 0]))
    )
    tested = () if k == 32 else ("k32/direct/stuck",)
    measure = partial(at_the_end, "direct", k, epochs)
    yield Claim(f"k{k}/direct/stuck", statement, 0.5, Region(0.45, 0.55), measure, None, explanation, null, tested)


def of_chain(settings: Settings, head: str, k: int) -> Iterator[Claim]:
    epochs = settings.epochs
    statement = (
        f"{head}: the chain without help decreases its loss significantly; at the end over the start's, median over "
        "runs"
    )

    def share(data: Data) -> Measured:
        curves = of_runs(data, "chain", k, epochs, "steps")
        return median(curves[:, -1] / curves[:, 0])

    yield Claim(f"k{k}/chain/decreases", statement, None, Region(high=0.5), share, null=Null("nothing learned", 1.0))
    yield from (of_solving(settings, head, k, name) for name in ("chain", "chain-10"))


def of_solving(settings: Settings, head: str, k: int, name: str) -> Claim:
    """The paper's chain solves k = 8 alone."""
    words = "solves it" if k == 8 else "does not solve it"
    statement = f"{head}: {MODELS[name].title} {words}; the fraction of runs with a loss of the answer below {SOLVED}"
    region = Region(low=0.5) if k == 8 else Region(high=0.5)
    null = (
        Null("the direct model", 0.0)
        if k == 8
        else Null("teacher forcing", lambda data: solved("forced", k, settings.epochs, data).value)
    )
    explanation = (
        "The last step learns before those below it are right: it comes to say 0 from constants and stays there. With "
        "10% of the answer's gradient some runs pass."
    )
    measure = partial(solved, name, k, settings.epochs)
    tested = () if name == "chain-10" else (f"k{k}/chain-10/solves",)
    return Claim(
        f"k{k}/{name}/solves", statement, 1.0 if k == 8 else 0.0, region, measure, None, explanation, null, tested
    )


def of_forced(settings: Settings, head: str, k: int) -> Iterator[Claim]:
    statement = (
        f"{head}: teacher forcing always learns; the fraction of runs with a loss of the answer below {SOLVED}, on "
        "their own steps"
    )
    null = Null("the direct model", lambda data: solved("direct", k, settings.epochs, data).value)
    measure = partial(solved, "forced", k, settings.epochs)
    yield Claim(f"k{k}/forced/solves", statement, 1.0, Region(low=0.5), measure, null=null)


def of_consistent(settings: Settings, head: str, k: int) -> Iterator[Claim]:
    explanation = (
        "The answer's level is unlocked last, and the epochs that it needs end about there; runs that go on have it."
    )
    for name, epochs in (("solves", settings.epochs), ("solves-later", settings.longer)):
        words = f"with self-consistency it is solved within {epochs} epochs"
        statement = (
            f"d = {D}, k = {k}, {settings.points:,} points: {words}; the fraction of runs with a loss of the answer "
            f"below {SOLVED}"
        )
        null = Null("the direct model", lambda data: solved("direct", k, settings.epochs, data).value)
        tested = (f"k{k}/consistent/solves-later",) if name == "solves" else ()
        paper = 1.0 if name == "solves" else None
        measure = partial(solved, "consistent", k, epochs)
        yield Claim(
            f"k{k}/consistent/{name}", statement, paper, Region(low=0.5), measure, None, explanation, null, tested
        )
    statement = (
        f"{head}: with self-consistency levels are learned one after the other; the fraction of runs in which each is "
        "solved 20 epochs or more after the one below"
    )
    null = Null("teacher forcing", lambda data: in_stages("forced", k, data).value)
    yield Claim(
        f"k{k}/consistent/stages", statement, 1.0, Region(low=0.5), partial(in_stages, "consistent", k), null=null
    )


CLAIMS = {
    "direct": of_direct,
    "chain": of_chain,
    "chain-10": lambda *_: iter(()),
    "forced": of_forced,
    "consistent": of_consistent,
}


def samples_of(data: Data, way: str, k: int) -> np.ndarray:
    """Samples until all is right, by seed; those that were seen where it never was."""
    part = data.samples[(data.samples.model == way) & (data.samples.k == k)]
    return part.sort_values("seed").samples.to_numpy(float)


def quotient(one: tuple[str, int], other: tuple[str, int], data: Data) -> Measured:
    """The median over seeds of one's samples over another's."""
    return median(samples_of(data, *one) / samples_of(data, *other))


def of_samples(sizes: Sizes) -> Iterator[Claim]:
    head = (
        f"causal Transformer, n = {sizes.n}, samples until all points are right (at most {sizes.steps * sizes.batch:,})"
    )
    most = sizes.ks[-1]
    for k in sizes.ks[1:]:
        statement = f"{head}: k = {k} takes many more without steps; without over with steps, median over seeds"
        measure = partial(quotient, ("direct", k), ("chain", k))
        yield Claim(f"causal/k{k}", statement, None, Region(low=4.0), measure, null=Null("steps that do not help", 1.0))
    statement = (
        f"{head}: with steps they grow like a polynomial in k, at most k^2; k = {most} over k = 1, median over seeds"
    )
    null = Null("without steps", lambda data: quotient(("direct", most), ("direct", 1), data).value)
    measure = partial(quotient, ("chain", most), ("chain", 1))
    yield Claim("causal/with", statement, None, Region(high=float(most**2)), measure, null=null)
    statement = f"{head}: without steps they grow with k by an order of magnitude; k = 2 over k = 1, median over seeds"
    null = Null("with steps", lambda data: quotient(("chain", 2), ("chain", 1), data).value)
    measure = partial(quotient, ("direct", 2), ("direct", 1))
    yield Claim("causal/without", statement, None, Region(low=10.0), measure, null=null)


STYLES = {"direct": ":", "chain": "-.", "chain-10": (0, (5, 1, 1, 1, 1, 1)), "forced": "-", "consistent": "--"}


def plot(settings: Settings, data: Data) -> Figures:
    """Losses over epochs, medians of runs in bold; samples over k."""
    grid = [k for k, _, _ in settings.grid]
    figure, axes = panels(1, len(grid) + 1, width=3.3, height=2.8)
    for axis, (k, models, _) in zip(axes[0], settings.grid, strict=False):
        for i, name in enumerate(models):
            curves, epochs = of_runs(data, name, k, settings.longer), epochs_of(data, name, k)
            axis.plot(epochs, curves.T, color=INKS[i], linestyle=STYLES[name], linewidth=0.4, alpha=0.5)
            axis.plot(
                epochs, np.median(curves, axis=0), color=INKS[i], linestyle=STYLES[name], label=MODELS[name].title
            )
        axis.axhline(0.5, color="0.6", linewidth=0.6)
        axis.axvline(settings.epochs, color="0.8", linewidth=0.6)
        dress(
            axis,
            xlabel="epoch",
            ylabel="loss of the answer",
            title=f"One matrix, d = {D}, k = {k}",
            ylim=(-0.05, 1.5),
            legend="upper right",
            size=6,
        )
    last_axis, sizes = axes[0, -1], settings.causal
    for i, (way, words) in enumerate({"chain": "with steps", "direct": "without"}.items()):
        for k in sizes.ks:
            last_axis.plot(
                np.full(len(samples_of(data, way, k)), k),
                samples_of(data, way, k),
                "os"[i],
                color=INKS[i],
                markersize=3,
                alpha=0.5,
            )
        middle = [np.median(samples_of(data, way, k)) for k in sizes.ks]
        last_axis.plot(sizes.ks, middle, color=INKS[i], linestyle=("-", "--")[i], label=words)
    last_axis.axhline(sizes.steps * sizes.batch, color="0.6", linewidth=0.6)
    last_axis.text(sizes.ks[0], sizes.steps * sizes.batch, "all that were seen", fontsize=6, color="0.4", va="bottom")
    last_axis.set(xlabel="k", ylabel="samples until all is right", title=f"Causal Transformer, n = {sizes.n}")
    dress(last_axis, yscale="log", legend="center right")
    last_axis.set_xticks(sizes.ks)
    return {"chain-of-thought": figure}


def epochs_of(data: Data, model: str, k: int) -> np.ndarray:
    """The recorded epochs of a model."""
    return np.unique(data.losses[(data.losses.model == model) & (data.losses.k == k)].epoch.to_numpy())
