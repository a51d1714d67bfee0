"""The law of SGD's time: why nobody is early and some are late, and by how much, without a free parameter.

A sinusoid neuron learns a k-parity once its relevant weights have grown. While they are small each grows in proportion
to the product of the others, dw_i/dt = prod over j != i of w_j, from weights uniform between +-1/sqrt(n). In units of
the median, n and the batch size set the scale of that time only. Nobody is early, since the product of k - 1 weights is
small from the start; some are late, since a run whose weights are all small, as r times others, takes r^-(k-2) times as
long, and r has the probability r^k: the time has the tail t^(-k/(k-2)) for k >= 3, and an exponential one for k = 2.

Three laws beside each other: SGD as the lab runs it; steps along the exact population gradient with Gaussian noise of
the variance of a batch (`analysis.noisy_flow_times`), which has the same scale, too; and the bare flow, without noise
and without the other weights (`analysis.blow_up_times`). Nothing is fitted. Times beyond the last step are censored.
The prediction at k = 3 had 200,000 times at first, which could not tell the 0.999 quantile (1.033, 0.997 to 1.075); it
has a million since that look.

The ReLU networks of width 100 of figure 2 (hidden-progress), with rate 1 and validated at every step, are beside them:
their law is another, narrower one. Why is open.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float

import paritylab as pl

from ...analysis import NoisyFlow, noisy_flow_times, uniform_blow_up_times
from ...figures import INKS, Axes, Figures, panels
from ...statistics import Counts, bootstrap_counts_interval
from ...survival import CensoredTimes
from ...sweep import Call, Results
from ..base import Claim, Measured, Null, Region, within_factor
from ..drawing import error_bars
from ..measures import UNKNOWN

RATE, BATCH, EVERY = 0.01, 32, 10
RELU_WIDTH, RELU_RATE = 100, 1.0
RESAMPLES = 300
CLOSE, NEAR = 1.05, 1.1
"""How close quantiles over the median are to the prediction: at k = 3, and at other k, where there are fewer runs."""
TAIL, FLOW_TAIL = 0.99, 0.999
"""Tails begin at these quantiles: those of SGD, and those of the bare flow."""


class Cell(NamedTuple):
    """Parities of one degree: how many runs of SGD, of the prediction and of ReLU networks, and for how long."""

    k: int
    runs: int
    simulated: int
    relu: int
    steps: int
    calls: int = 8
    """In so many parts is the prediction computed."""


@dataclass(frozen=True)
class Settings:
    cells: tuple[Cell, ...]
    quantiles: tuple[float, ...]
    n: int = 30
    samples: int = 200_000
    """Of the bare flow: so many of its times are computed for the figure and for its tail."""


QUICK = (Cell(2, 1500, 1000, 300, 5_000), Cell(3, 4000, 2000, 500, 20_000), Cell(4, 300, 300, 100, 60_000))
PAPER = (
    Cell(2, 20_000, 20_000, 20_000, 20_000, calls=20),
    Cell(3, 1_000_000, 1_000_000, 50_000, 50_000, calls=100),
    Cell(4, 50_000, 50_000, 20_000, 300_000, calls=20),
)
SETTINGS = {"quick": Settings(QUICK, (0.1, 0.9)), "paper": Settings(PAPER, (0.1, 0.9, 0.99, 0.999))}
SHORTER = (
    "Batches are finite: their noise moves weights that are small all together off the saddle, where the flow would "
    "leave them. The flow without noise has this exponent; the exact gradient with a batch's noise has SGD's."
)
LOST = (
    "Runs of k = 4 that wait long have irrelevant weights that noise has moved far, and then little gradient is left: "
    "1.6% have not come back by the last step, so that no quantile beyond is reached, and no power law holds. As many "
    "are lost on the exact gradient with a batch's noise, and hardly any without noise."
)
LARGE = 0.99
"""At k = 4 quantiles from here on are beyond the last step; they are asked for at paper scale alone."""


def plan(settings: Settings) -> Iterator[pl.Plan | Call]:
    for cell in settings.cells:
        task = pl.Uniform(pl.Parity(settings.n, support=range(cell.k)))
        how: dict[str, Any] = {"batch": BATCH, "steps": cell.steps}
        neuron, labels = pl.Neuron(pl.networks.Sinusoid(cell.k)), {"degree": cell.k, "way": "sgd"}
        yield pl.plan(task, neuron, rate=RATE, every=EVERY, seeds=cell.runs, labels=labels, **how)
        labels = {"degree": cell.k, "way": "relu"}
        yield pl.plan(task, pl.MLP(RELU_WIDTH), rate=RELU_RATE, every=1, seeds=cell.relu, labels=labels, **how)
        part = math.ceil(cell.simulated / cell.calls)
        for seed in range(cell.calls):
            given = {"n": settings.n, "k": cell.k, "runs": part, "steps": cell.steps, "seed": seed}
            yield Call(simulated, given, {"degree": cell.k, "way": "noisy flow"}, seconds=part * cell.k**4 * 2e-5)


def simulated(n: int, k: int, runs: int, steps: int, seed: int) -> pd.DataFrame:
    """The noisy flow's times."""
    flow = NoisyFlow(n, k, RATE, BATCH)
    return pd.DataFrame({"time": noisy_flow_times(flow, runs, steps=steps, key=pl.root_key(seed), every=EVERY)})


class Laws(NamedTuple):
    """How often each time occurred, by degree and way, infinite if not reached; and the bare flow's, in its unit."""

    times: dict[tuple[int, str], Counts]
    flow: dict[int, Float[np.ndarray, " samples"]]
    limits: dict[int, int]

    def tail(self, k: int, way: str, start: float = TAIL) -> Measured:
        """The exponent of the tail beyond a quantile, with its interval; runs that are not done are censored."""
        sample = self.times[k, way]
        step = np.minimum(np.repeat(sample.values, sample.counts), self.limits[k])
        learned = np.isfinite(np.repeat(sample.values, sample.counts))
        found = CensoredTimes(step, learned).tail_exponent(min(sample.quantile(start), self.limits[k] / 2))
        return Measured(found.value, found.interval)


def read(settings: Settings, results: Results) -> Laws:
    table = results.table()
    time = table.converged_at.astype(float).where(table.way != "noisy flow", table.time.astype(float)).fillna(np.inf)
    grouped = table.assign(time=time).groupby(["degree", "way"]).time
    times = {(int(k), str(way)): Counts.of(each.to_numpy(float)) for (k, way), each in grouped}
    flow = {
        cell.k: uniform_blow_up_times(cell.k, settings.n, settings.samples, key=pl.root_key(cell.k))
        for cell in settings.cells
    }
    return Laws(times, flow, {cell.k: cell.steps for cell in settings.cells})


def claims(settings: Settings) -> Iterator[Claim]:
    for cell in settings.cells:
        yield of_scale(settings.n, cell.k)
        yield from (of_quantile(cell.k, q) for q in settings.quantiles)
        if cell.k > 2:
            yield from of_tails(cell.k)
            yield of_relu(cell.k)
        if cell.k == 3:
            yield of_noise(cell.k)
        if cell.k == 4 and LARGE in settings.quantiles:
            yield of_lost(cell)


def of_scale(n: int, k: int) -> Claim:
    """The median itself has no free parameter either."""
    statement = f"k = {k}: SGD's median time over that of the exact gradient with a batch's noise"
    measure = lambda laws: ratio(laws, k, lambda times: times.quantile(0.5))
    search = lambda laws: math.comb(n, k) * math.log(2) / laws.times[k, "noisy flow"].quantile(0.5)
    null = Null("random search, C(n, k) log 2 steps", search)
    return Claim(f"k{k}/median", statement, None, within_factor(1, NEAR), measure, theory=1.0, null=null)


def of_quantile(k: int, q: float) -> Claim:
    factor = CLOSE if k == 3 else NEAR
    statement = (
        f"k = {k}: the {q:g} quantile of SGD's time over its median is that of the exact gradient with a batch's "
        "noise; the one over the other"
    )
    shape = lambda times: times.quantile(q) / times.quantile(0.5)
    null = Null("all runs take equally long", lambda laws: 1 / shape(laws.times[k, "noisy flow"]))
    how: dict[str, Any] = {"explanation": LOST, "tested_by": ("k4/lost",)} if k == 4 and q >= LARGE else {}
    measure = lambda laws: ratio(laws, k, shape)
    return Claim(f"k{k}/q{q:g}", statement, None, within_factor(1, factor), measure, theory=1.0, null=null, **how)


def of_tails(k: int) -> Iterator[Claim]:
    limit = k / (k - 2)
    region = within_factor(limit, 1.2)
    text = "a tail of t^(-k/(k-2))"
    null = Null("an exponential law beyond the same quantile", exponential_exponent(TAIL))
    statement = f"k = {k}: SGD's time has {text}; the exponent beyond the {TAIL:g} quantile"
    measure = lambda laws: laws.tail(k, "sgd")
    why, by = (SHORTER, (f"k{k}/flow-tail", f"k{k}/noise-tail")) if k == 3 else (LOST, (f"k{k}/lost",))
    yield Claim(f"k{k}/tail", statement, None, region, measure, limit, why, null, by)
    statement = f"k = {k}: the flow without noise and without other weights has {text}; its exponent beyond the "
    null = Null("an exponential law beyond the same quantile", exponential_exponent(FLOW_TAIL))
    name, words = f"k{k}/flow-tail", f"{FLOW_TAIL:g} quantile"
    yield Claim(name, statement + words, None, region, lambda laws: flow_tail(laws, k), limit, null=null)


def of_noise(k: int) -> Claim:
    """The control of the explanation: with the noise the tail is SGD's, without it is not."""
    statement = (
        f"k = {k}: the exponent of SGD's tail beyond the {TAIL:g} quantile is that of the exact gradient with a "
        "batch's noise; the one over the other"
    )
    measure = lambda laws: over(laws.tail(k, "sgd"), laws.tail(k, "noisy flow"))
    without = lambda laws: flow_tail(laws, k, TAIL).value / max(laws.tail(k, "noisy flow").value, 1e-9)
    null = Null("the flow without noise", without)
    return Claim(f"k{k}/noise-tail", statement, None, within_factor(1, 1.2), measure, theory=1.0, null=null)


def of_lost(cell: Cell) -> Claim:
    """The control of the other explanation, chosen when the runs had been looked at."""
    statement = (
        f"k = {cell.k}: as many runs of SGD have not learned after {cell.steps:,} steps as on the exact gradient with "
        "a batch's noise; the share of the ones over that of the others"
    )
    lost = lambda times: 1 - times.up_to(cell.steps) / times.size

    def without(laws: Laws) -> float:
        """The bare flow's, whose unit is set by the median."""
        flow, predicted = laws.flow[cell.k], laws.times[cell.k, "noisy flow"]
        return float(np.mean(flow / np.median(flow) > cell.steps / predicted.quantile(0.5))) / max(
            lost(predicted), 1e-9
        )

    null = Null("the flow without noise", without)
    measure = lambda laws: ratio(laws, cell.k, lost)
    return Claim(f"k{cell.k}/lost", statement, None, within_factor(1, 1.25), measure, theory=1.0, null=null)


def exponential_exponent(q: float) -> float:
    """What a tail exponent beyond the q quantile measures of an exponential law: 1 / E[log(T / t_q) | T > t_q].

    >>> round(exponential_exponent(0.99), 2)
    5.47
    """
    from scipy.special import exp1

    x = -math.log(1 - q)
    return float(1 / (math.exp(x) * exp1(x)))


def flow_tail(laws: Laws, k: int, start: float = FLOW_TAIL) -> Measured:
    times = laws.flow[k]
    found = CensoredTimes(times, np.ones(len(times), bool)).tail_exponent(float(np.quantile(times, start)))
    return Measured(found.value, found.interval)


def of_relu(k: int) -> Claim:
    statement = (
        f"k = {k}: ReLU networks of width {RELU_WIDTH} have a narrower law; their 0.9 quantile over the median, over "
        "that of the sinusoid neuron's exact gradient with noise"
    )
    measure = lambda laws: ratio(laws, k, lambda times: times.quantile(0.9) / times.quantile(0.5), "relu")
    return Claim(f"k{k}/relu", statement, None, Region(high=0.8), measure, null=Null("the same law", 1.0))


def ratio(laws: Laws, k: int, statistic: Callable[[Counts], float], way: str = "sgd") -> Measured:
    """A statistic of the lab's runs over that of the prediction, each with a bootstrap."""
    ours, predicted = (
        Measured(statistic(sample), bootstrap_counts_interval(sample, statistic, RESAMPLES))
        for sample in (laws.times[k, way], laws.times[k, "noisy flow"])
    )
    return over(ours, predicted)


def over(first: Measured, second: Measured) -> Measured:
    """The quotient of two independent positive values: the errors of their logarithms add in squares."""
    if not (0 < first.value < math.inf and 0 < second.value < math.inf):
        return UNKNOWN
    (low, high), (other_low, other_high) = first.interval, second.interval
    with np.errstate(divide="ignore"):  # an end of 0 is no bound of a quotient
        down, up, other_down, other_up = np.abs(
            np.log([low / first.value, high / first.value, other_low / second.value, other_high / second.value])
        )
    value, below, above = first.value / second.value, np.hypot(down, other_up), np.hypot(up, other_down)
    return Measured(value, (float(value * np.exp(-below)), float(value * np.exp(above))))


def plot(settings: Settings, laws: Laws) -> Figures:
    """Survival over the time in medians, on logarithmic axes, where a power law is a line; hazards below."""
    figure, axes = panels(2, len(settings.cells), width=3.3, height=2.8)
    for (above, below), cell in zip(axes.T, settings.cells, strict=True):
        draw(above, laws, cell, settings.n)
        draw_hazards(below, laws, cell)
    axes[0, 0].set_ylabel("fraction of runs not done")
    axes[1, 0].set_ylabel("hazard (per median time)")
    handles, labels = (
        first + second
        for first, second in zip(
            axes[0, -1].get_legend_handles_labels(), axes[1, -1].get_legend_handles_labels(), strict=True
        )
    )
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=7)
    figure.suptitle("Time to learn a parity, in medians: no run is early, and from k = 3 on the tail is a power law")
    return {"sgd-time": figure}


WAYS = {"sgd": "sinusoid neuron, SGD", "noisy flow": "exact gradient and a batch's noise",
        "relu": f"ReLU, width {RELU_WIDTH}, SGD"}  # fmt: skip
LOOKS: dict[str, dict[str, Any]] = {
    "sgd": {"color": INKS[0], "linewidth": 2.2, "alpha": 0.55},
    "noisy flow": {"color": INKS[1], "linestyle": "--", "linewidth": 1.2},
    "relu": {"color": INKS[2], "linestyle": "-."},
}


def draw(axis: Axes, laws: Laws, cell: Cell, n: int) -> None:
    """One degree: both laws, the bare flow's, and its slope."""
    least = 1.0
    for way, label in WAYS.items():
        sample = laws.times[cell.k, way]
        median = sample.quantile(0.5)
        step = np.minimum(np.repeat(sample.values, sample.counts), cell.steps)
        curve = CensoredTimes(step, np.isfinite(np.repeat(sample.values, sample.counts))).survival()
        alive = curve.share > 0
        axis.step(curve.step[alive] / median, curve.share[alive], where="post", label=label, **LOOKS[way])
        least = min(least, 1 / sample.size)
        if way == "sgd":
            low, high = curve.band()
            axis.fill_between(curve.step / median, np.maximum(low, 1e-9), high, step="post", color=INKS[0], alpha=0.15,
                              linewidth=0, label="95% band of the curve")  # fmt: skip
    times = np.sort(laws.flow[cell.k]) / np.median(laws.flow[cell.k])
    share = 1 - np.arange(1, len(times) + 1) / len(times)
    shown = share > least
    axis.plot(
        times[shown], share[shown], color="0.2", linestyle=":", label="bare flow, $\\dot w_i = \\prod_{j \\neq i} w_j$"
    )
    if cell.k > 2:
        end, slope = np.array([4.0, 60.0]), cell.k / (cell.k - 2)
        level = 2 * float(np.mean(times > end[0]))
        axis.plot(end, level * (end / end[0]) ** -slope, color="0.6", linewidth=0.8, label="slope $-k/(k-2)$")
    axis.set(xscale="log", yscale="log", xlim=(0.15, 60), ylim=(least / 2, 1.3))
    median = laws.times[cell.k, "sgd"].quantile(0.5)
    axis.set_title(f"k = {cell.k}, n = {n}: median {median:,.0f} steps")


EDGES = np.geomspace(0.3, 30, 17)
"""In medians: between them hazards are held constant."""


def draw_hazards(axis: Axes, laws: Laws, cell: Cell) -> None:
    """Ends per run still waiting, in units of the median: flat for random search, as 1/t in a power law."""
    for way, marker in (("sgd", "o"), ("noisy flow", "s"), ("relu", "^")):
        sample = laws.times[cell.k, way]
        median = sample.quantile(0.5)
        step = np.minimum(np.repeat(sample.values, sample.counts), cell.steps)
        times = CensoredTimes(step, np.isfinite(np.repeat(sample.values, sample.counts)))
        every = 1 if way == "relu" else EVERY
        edges = np.unique(every * np.round(median * EDGES / every))
        middle = np.sqrt(np.maximum(edges[:-1], every) * edges[1:]) / median
        found = times.hazards(edges)
        seen = np.array([each.events > 0 for each in found])
        values, bars = error_bars([Measured(median * each.value, (median * each.interval[0], median * each.interval[1]))
                                   for each, there in zip(found, seen, strict=True) if there])  # fmt: skip
        look = {key: value for key, value in LOOKS[way].items() if key == "color"}
        axis.errorbar(
            middle[seen], values, bars, marker=marker, markersize=3.5, linestyle="none", linewidth=0.8, **look
        )
    flow = laws.flow[cell.k] / np.median(laws.flow[cell.k])
    rates = CensoredTimes(flow, np.ones(len(flow), bool)).hazards(EDGES)
    there = np.array([each.events > 10 for each in rates])
    middle = np.sqrt(EDGES[:-1] * EDGES[1:])
    axis.plot(middle[there], [each.value for each in rates if each.events > 10], color="0.2", linestyle=":")
    axis.axhline(math.log(2), color="0.6", linewidth=0.8, linestyle="--", label="hazard of random search")
    axis.set(xscale="log", yscale="log", xlabel="time / median", xlim=(0.15, 60), ylim=(0.05, 20))
