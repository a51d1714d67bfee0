"""Layerwise training against training end to end: the network of gates, and a dense network of the same size.

The paper trains level by level for the sake of its analysis, and says that layerwise training has been found
comparable to end-to-end training elsewhere. It does not compare the two on its own problem. Here they learn the same
random AND/OR/NAND/NOR circuits under the generative distribution: Algorithm 1 on a sample of four times the size that
the sign test predicts; the same network of neural gates with Adam from end to end on fresh batches; a dense ReLU
network of one hidden layer with about as many parameters. Learned means no mistake on 8,192 points of the distribution.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import paritylab as pl

from ...distributions.points import growing_sample
from ...figures import INKS, ink, panels
from ...networks.base import Recipe
from ...sweep import Call, Results
from ...training.plans import Plan
from ..base import Claim, Measured, Null, Region
from ..drawing import dress, error_bars, shown
from ..measures import fraction
from .shared.problems import RandomGenerative, generative, safe_width

MULTIPLE = 4


@dataclass(frozen=True)
class Settings:
    depths: tuple[int, ...]
    seeds: int
    steps: int
    batch: int = 64
    rate: float = 0.003


SETTINGS = {
    "quick": Settings(depths=(3,), seeds=16, steps=2_000),
    "paper": Settings(depths=(2, 3, 4, 5, 6), seeds=50, steps=50_000),
}

WAYS = {"layerwise": "gates, layerwise (Algorithm 1)", "gates": "gates, end to end", "dense": "dense, end to end"}


def layerwise(depth: int, seeds: int) -> list[dict[str, object]]:
    """Algorithm 1 on samples."""
    known = [generative(depth, seed) for seed in range(seeds)]
    drawn = lambda each, seed: growing_sample(each.distribution, int(MULTIPLE * each.samples), key=pl.root_key(seed))
    patterns = [pl.circuits.SamplePatterns(*drawn(each, seed)) for seed, each in enumerate(known)]
    regularizers = [each.regularizer for each in known]
    learned = pl.circuits.learn_circuits(patterns, width=safe_width(2**depth), regularizer=regularizers)
    errors = [each.error_of(found.circuit) for each, found in zip(known, learned, strict=True)]
    return [{"seed": seed, "error": error, "learned": error <= 1e-12} for seed, error in enumerate(errors)]


def plan(settings: Settings) -> Iterator[Plan | Call]:
    seeds, steps = settings.seeds, settings.steps
    how: dict[str, Any] = {"rate": settings.rate, "batch": settings.batch, "optimizer": "adam", "seeds": seeds}
    recorded: dict[str, Any] = {"steps": steps, "records": pl.training.Recording((pl.FreshError(2048),), steps // 20)}
    for depth in settings.depths:
        n, width = 2**depth, safe_width(2**depth)
        which = {"depth": depth, "seeds": settings.seeds}
        yield Call(layerwise, which, labels={"way": "layerwise", "depth": depth}, seconds=2.0)
        dense = max(1, round(3 * width * (n - 1) / (n + 2)))
        gates = pl.networks.NeuralGates(width, scale=1 / math.sqrt(width))
        networks: dict[str, Recipe] = {"gates": gates, "dense": pl.MLP(dense)}
        for way, network in networks.items():
            labels = {"way": way, "depth": depth}
            yield pl.plan(RandomGenerative(n), network, every=20, labels=labels, **how, **recorded)


class Data(NamedTuple):
    table: pd.DataFrame
    """Runs, with whether they learned."""
    curves: pd.DataFrame

    def learned(self, depth: int, way: str) -> "pd.Series[bool]":
        return self.table[(self.table.depth == depth) & (self.table.way == way)].learned


def read(settings: Settings, results: Results) -> Data:
    table = results.table()
    by_call = table.way == "layerwise"
    learned = np.where(by_call, table.learned == True, table.outcome == "learned")  # noqa: E712 (objects)
    return Data(table.assign(learned=learned), results.curves())


NOTHING_LEARNED = (
    "Where end-to-end training learns no circuit at all, to learn none would be no worse; that layerwise training "
    "learns them is the claim before this one."
)


def claims(settings: Settings) -> Iterator[Claim]:
    for depth in settings.depths:
        yield from claims_at(depth, f"depth {depth}, {settings.seeds} circuits", settings.steps)


def claims_at(depth: int, of: str, steps: int) -> Iterator[Claim]:
    statement = f"Algorithm 1 learns from {MULTIPLE} times the sign test's size ({of}); the fraction learned"
    measure = lambda data: fraction(data.learned(depth, "layerwise"))
    null = Null("gates drawn at random", 8.0 ** (1 - 2**depth))
    yield Claim(f"d{depth}/layerwise", statement, None, Region(low=0.7), measure, theory=1.0, null=null)
    statement = (
        f"layerwise training is no worse than training the same network end to end for {steps:,} steps ({of}); the "
        "difference of the fractions learned"
    )
    measure = lambda data: difference(*(fraction(data.learned(depth, way)) for way in ("layerwise", "gates")))
    null = Null("layerwise training that learns nothing", lambda data: -float(data.learned(depth, "gates").mean()))
    why, tests = NOTHING_LEARNED, (f"d{depth}/layerwise",)
    yield Claim(f"d{depth}/no-worse", statement, None, Region(low=0.0), measure, None, why, null, tests)


def difference(one: Measured, other: Measured) -> Measured:
    """Of two fractions, with an interval by Newcombe's square-and-add."""
    (a, (low_a, high_a)), (b, (low_b, high_b)) = one, other
    gap, down, up = a - b, np.hypot(a - low_a, high_b - b), np.hypot(high_a - a, b - low_b)
    return Measured(gap, (float(gap - down), float(gap + up)))


def plot(settings: Settings, data: Data) -> dict[str, Figure]:
    """Fractions by depth, and the errors of end-to-end runs over steps."""
    figure, axes = panels(1, 2, width=3.8, height=3.0)
    (left, right), depths = axes[0], settings.depths
    for i, (way, words) in enumerate(WAYS.items()):
        heights, bars = error_bars([fraction(data.learned(depth, way)) for depth in depths])
        places = np.arange(len(depths)) + 0.27 * (i - 1)
        left.bar(places, heights, 0.25, color=INKS[i], label=words)
        left.errorbar(places, heights, bars, fmt="none", color="0.2", capsize=2)
    left.set_xticks(range(len(depths)), [str(depth) for depth in depths])
    left.set(xlabel="depth of the circuit", ylabel="fraction of circuits learned", ylim=(0, 1.45))
    dress(left, legend="upper left")
    curves = data.curves[data.curves.depth == depths[-1]]
    for i, way in enumerate(("gates", "dense"), start=1):
        errors = curves[curves.way == way].pivot_table(index="step", columns="run", values="fresh_error").ffill()
        errors = errors[errors.index % (settings.steps // 20) == 0]
        right.plot(errors.index, errors, color=INKS[i], linewidth=0.4, alpha=0.5)
        right.plot(errors.index, errors.mean(axis=1), linewidth=2, label=WAYS[way], **ink(i))
    right.set(xlabel="step", ylabel="error; thin: runs, thick: their mean", ylim=(-0.01, 0.55))
    dress(right, title=f"depth {depths[-1]}, end to end", legend="best")
    return shown("comparison", figure, "Random circuits under their generative law")
