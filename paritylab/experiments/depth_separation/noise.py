"""Label noise: samples for the first layer against the rate eta at which labels are flipped, E1, half and half.

A flip multiplies every signal by 1 - 2 eta and leaves the probabilities of patterns as they are, so that the sign test
asks for about 1 / (1 - 2 eta)^2 as many examples; noise at eta and a share a of the easy half cost the same if
a / 2 = 1 - 2 eta in the signal. Measured as in `samples`. The layers above are tried too, with no layer given: one
gradient step and least squares on (n^2 + 1,000) / (1 - 2 eta)^2 noisy examples, tested on clean ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import paritylab as pl

from ...circuits import gate_tables, predicted_samples
from ...figures import ink, panels
from ...sweep import Call
from ..base import Claim, Null, Region
from ..drawing import dress, shown
from ..measures import exactly
from .layerwise import without_layers
from .shared.families import ERROR, alternating, mixture_of
from .shared.fits import power
from .shared.recovery import as_predicted, measured_size, trials_over


@dataclass(frozen=True)
class Settings:
    trials: int
    n: int
    rates: tuple[float, ...]
    seeds: int
    """Of the whole network."""
    whole: tuple[float, ...]
    """Rates for the whole network."""


SETTINGS = {
    "quick": Settings(40, 15, (0.0, 0.1, 0.2, 0.3, 0.4), 10, (0.0, 0.1, 0.2)),
    "paper": Settings(200, 51, (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45), 20, (0.0, 0.1, 0.2, 0.3)),
}


def noisy(target: pl.GateProduct, rate: float) -> pl.FlippedLabels:
    return pl.FlippedLabels(mixture_of("E1", target), rate)


def runs(n: int, rates: tuple[float, ...], trials: int) -> pd.DataFrame:
    """All rates."""
    return trials_over("flips", rates, noisy, n, trials)


def plan(settings: Settings) -> Iterator[Call]:
    for rate in settings.whole:
        for seed in range(settings.seeds):
            which = {"n": settings.n, "seed": seed, "noise": rate}
            yield Call(without_layers, which, {"route": "whole"}, seconds=0.5)
    gates = {"n": settings.n, "rates": settings.rates, "trials": settings.trials}
    yield Call(runs, gates, {"route": "gates"}, seconds=4.0)


def claims(settings: Settings) -> Iterator[Claim]:
    """A bootstrap over trials for single sizes; medians of the seeds that ran."""
    yield from (gates(settings.n, rate) for rate in settings.rates)
    statement = "the measured size grows like (1 - 2 eta)^-2; the exponent of 1 - 2 eta"
    kept = [1 - 2 * rate for rate in settings.rates]
    measure = lambda table: power(kept, [measured_size(table[table.flips == rate]) for rate in settings.rates])
    null = Null("as many examples for every rate", 0.0)
    yield Claim("gates/power", statement, None, Region(-2.4, -1.6), measure, theory=-2.0, null=null)
    yield from (whole(settings.n, rate) for rate in settings.whole)


def gates(n: int, rate: float) -> Claim:
    words = "the sample size at which 90% are recovered over the one that the sign test predicts"
    statement = f"n = {n}, labels flipped at {rate:g}: {words}"
    return as_predicted(f"gates/eta{rate:g}", statement, lambda table: table[table.flips == rate])


def whole(n: int, rate: float) -> Claim:
    statement = (
        f"n = {n}, labels flipped at {rate:g}, no layer given, (n^2 + 1,000) / (1 - 2 eta)^2 "
        "examples: the median over seeds of the error on the clean uniform half"
    )
    measure = lambda table: exactly(table[table.noise == rate].hard_error.median())
    return Claim(f"whole/eta{rate:g}", statement, None, Region(high=ERROR), measure, null=Null("a guess", 0.5))


def plot(settings: Settings, table: pd.DataFrame) -> dict[str, Figure]:
    """Examples over 1 - 2 eta, and errors of the whole network."""
    figure, axes = panels(1, 2, width=3.8, height=3.0)
    (left, right), target = axes[0], alternating(settings.n)
    eta = np.linspace(0, max(settings.rates), 30)
    lines = [predicted_samples(gate_tables(target, noisy(target, float(each)))) for each in eta]
    left.plot(eta, lines, linewidth=1, label="sign test", **ink(0))
    sizes = [measured_size(table[table.flips == rate]) for rate in settings.rates]
    left.plot(settings.rates, sizes, "o", color=ink(1)["color"], markersize=5, label="measured, nine in ten")
    left.set(yscale="log", xlabel="share of labels flipped", ylabel="examples that recover all gates", title="gates")
    dress(left, legend="best")
    errors = [table[table.noise == rate].hard_error.to_numpy() for rate in settings.whole]
    for rate, each in zip(settings.whole, errors, strict=True):
        right.plot(np.full(len(each), rate), each, ".", color="0.6", markersize=4)
    right.plot(settings.whole, [np.median(each) for each in errors], marker="s", markersize=4, label="median", **ink(2))
    right.axhline(ERROR, color="0.5", linewidth=0.8, linestyle="--")
    right.set_yscale("symlog", linthresh=1e-3)
    right.set(xlabel="share of labels flipped", ylabel="error on the clean uniform half", ylim=(-2e-4, 0.7))
    dress(right, title="whole network, no layer given", legend="best")
    return shown("noise", figure, f"Flipped labels cost a factor of $(1 - 2\\eta)^{{-2}}$ (n = {settings.n})")
