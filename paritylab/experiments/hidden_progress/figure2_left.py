"""Figure 2, left, of hidden-progress: histograms of the convergence time over a million random trials.

No run gets lucky: none learns near t = 0, or in much less than the median time, while random exhaustive search has a
geometric distribution with mean C(n, k), with the most mass at 0 and ever less after it. The upper tails are heavy.

The paper does not name the networks. Here they are the sinusoidal neuron (xiv) at rate 0.01 and the ReLU network of
width 100 (ii) at rate 1, as in figure 10: n = 30, k = 3, batches of 32, 8,192 validation points. The learner treats
all coordinates alike, so the target is the parity of the first three. A run that has not learned after 10,000 steps
counts as infinitely slow. (ii), which needs some 200 steps, is validated at every one: in tens, percentiles are too
coarse for the shape of its tail.

What the words are taken to mean, at any scale of time. Early: by a quarter of the median, where a geometric
distribution has 16% of its mass; we accept one run in a thousand. Decreasing mass: more than half of the runs that end
by the median end by half of it (59% for a geometric one). A heavy upper tail: the 99th percentile is at least twice as
far above the median as the 1st is below it; and, more strictly, heavier than a geometric one beyond the median: the
step from the 90th to the 99th percentile over that from the 50th to the 90th, against log 10 / log 5 = 1.43 there.
"Beside that of random search" is more than 2% above it.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import paritylab as pl

from ...figures import INKS, Axes, Figures, panels
from ...networks.base import Recipe
from ...statistics import Counts, bootstrap_counts_interval
from ...sweep import Results
from ..base import Claim, Measured, Null, Region
from ..measures import proportion
from .shared.claims import about

N, K, BATCH = 30, 3, 32
EARLY = 0.25
"""A run is early if it has learned by this part of the median."""
GEOMETRIC_EARLY = 1 - 2**-EARLY
GEOMETRIC_TAIL = math.log(10) / math.log(5)
RESAMPLES = 500


@dataclass(frozen=True)
class Settings:
    trials: dict[str, int]
    steps: int = 10_000


SETTINGS = {"quick": Settings({"xiv": 6_000, "ii": 4_000}), "paper": Settings({"xiv": 1_000_000, "ii": 1_000_000})}


class Panel(NamedTuple):
    name: str
    words: str
    network: Recipe
    rate: float
    every: int


PANELS = (
    Panel("xiv", "sinusoidal neuron", pl.Neuron(pl.networks.Sinusoid(K)), 0.01, 10),
    Panel("ii", "ReLU, width 100", pl.MLP(100), 1.0, 1),
)
LIGHTER = (
    "Unexplained: the tail of (ii) is about as heavy as a geometric law's beyond its median. The paper says that upper "
    "tails are heavy, not beside what, and does not name the network."
)


def plan(settings: Settings) -> Iterator[pl.Plan]:
    task, steps = pl.Uniform(pl.Parity(N, support=range(K))), settings.steps
    for panel in PANELS:
        seeds, labels = settings.trials[panel.name], {"panel": panel.name}
        how: dict[str, Any] = {"rate": panel.rate, "every": panel.every, "labels": labels}
        yield pl.plan(task, panel.network, batch=BATCH, seeds=seeds, steps=steps, **how)


def read(settings: Settings, results: Results) -> dict[str, Counts]:
    """How often each time occurred, by panel."""
    times = results.table().groupby("panel").converged_at
    return {str(panel): Counts.of(each.to_numpy(float, na_value=np.inf)) for panel, each in times}


def claims(settings: Settings) -> Iterator[Claim]:
    for panel in PANELS:
        yield from claims_of(panel)


def claims_of(panel: Panel) -> Iterator[Claim]:
    claim = about(panel.name, f"({panel.name}) {panel.words}", lambda times: times[panel.name])
    text = f"no run learns near t = 0; the fraction of runs that learn by {EARLY:g} of the median time"
    up_to = lambda times, part: times.up_to(part * times.quantile(0.5))
    early = lambda times: proportion(up_to(times, EARLY), times.size)
    search = lambda value: Null("random search", value)
    text = f"{text} ({GEOMETRIC_EARLY:.2f} for random search)"
    yield claim("early", text, Region(high=1e-3), early, null=search(GEOMETRIC_EARLY))
    text = "of the runs that learn by the median time, the fraction that do by half of it (0.59 for random search)"
    half = lambda times: proportion(up_to(times, 0.5), up_to(times, 1))
    text = f"the mass does not decrease from t = 0 on; {text}"
    yield claim("rises", text, Region(high=0.5), half, null=search(2 - math.sqrt(2)))
    text = "the upper tail is heavy; how much farther the 99th percentile is from the median than the 1st"
    measure, null = lambda times: bootstrapped(times, asymmetry), Null("a symmetric law", 1)
    yield claim("upper-tail", text, Region(low=2), measure, null=null)
    text = "the upper tail is heavy beside that of random search; the step between its percentiles 90 and 99 over that "
    text += "between 50 and 90, as a multiple of a geometric law's"
    how: dict[str, Any] = {"null": search(1), "explanation": LIGHTER if panel.name == "ii" else ""}
    yield claim("heavier-than-search", text, Region(low=1.02), lambda times: bootstrapped(times, heaviness), **how)


def bootstrapped(times: Counts, statistic: Callable[[Counts], float]) -> Measured:
    return Measured(statistic(times), bootstrap_counts_interval(times, statistic, resamples=RESAMPLES))


def asymmetry(times: Counts) -> float:
    """How much farther the 99th percentile is above the median than the 1st is below it; 1 if it is symmetric."""
    low, middle, high = (times.quantile(q) for q in (0.01, 0.5, 0.99))
    return (high - middle) / (middle - low)


def heaviness(times: Counts) -> float:
    """The tail beyond the median against random search's; infinite if a hundredth of the runs never learns."""
    middle, high, higher = (times.quantile(q) for q in (0.5, 0.9, 0.99))
    return math.inf if higher == math.inf else (higher - high) / (high - middle) / GEOMETRIC_TAIL


def plot(settings: Settings, times: dict[str, Counts]) -> Figures:
    """Two histograms, with the distribution of random search."""
    figure, axes = panels(1, 2, width=4.0, height=2.9)
    for axis, panel in zip(axes[0], PANELS, strict=True):
        draw(axis, panel, times[panel.name])
    axes[0, 0].set_ylabel("fraction of runs per 10 steps")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncol=3)
    figure.suptitle(f"Time to learn a parity of {K} out of {N} bits: no run is early, some are late")
    return {"figure2-left": figure}


def draw(axis: Axes, panel: Panel, times: Counts) -> None:
    """The histogram to the 99.5th percentile, with what lies beyond it in words."""
    finite = Counts(*(column[np.isfinite(times.values)] for column in times))
    end = 1.3 * finite.quantile(0.99)
    width = 10 * max(1, round(end / 10 / 60))
    edges = np.arange(5, end + width, width)
    heights, _ = np.histogram(finite.values, edges, weights=finite.counts)
    axis.stairs(heights / times.size * 10 / width, edges, fill=True, color=INKS[0], alpha=0.75, label="runs")
    grid, search = np.arange(0, end), 1 / math.comb(N, K)
    label = f"random search (geometric, mean {math.comb(N, K):,})"
    axis.plot(grid, 10 * search * (1 - search) ** grid, color=INKS[1], linestyle="--", label=label)
    axis.axvline(times.quantile(0.5), color="0.2", linestyle=":", linewidth=1, label="median")
    late = 1 - times.up_to(end) / times.size
    title = f"({panel.name}) {panel.words}, rate {panel.rate:g}\n{times.size:,} runs, {late:.1%} beyond the axis"
    axis.set(xlabel="convergence time (steps)", xlim=(0, end), title=title)
