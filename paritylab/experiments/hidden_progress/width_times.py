"""Figures 4 (left) and 14 of hidden-progress: success times against the width of the network, from 1 to 3 million.

Online SGD with hinge loss, batches of 128 and rate 0.1, on the parity of 3 out of n bits: n = 40 in figure 4, n = 30,
40 and 50 in figure 14, whose panel in the centre it is. If SGD were random search, r neurons would be r tries at once
and the time would fall like C(n, k)/r, the green line. It does not: it levels off. Appendix C.4 concludes that there is
no r-fold speed-up even at r >> n^k, and that a benefit of width is variance reduction: the upper tail of long times is
mitigated. The slope is measured from r = 100 on, up to 10^6 at paper scale, where n^k is 27,000 to 125,000.

A network of width r >= 3 succeeds when it makes no mistake on 128 points, as in the paper's larger probes.
Narrower ones cannot hold the parity; they succeed with an accuracy of at least 55% on ten batches of 128 fresh points
in a row, tested every 10 steps, which chance does once in 10^9 times. Which of its batches the paper tests on it does
not say.

A run that does not succeed in time counts as infinitely slow in every median and quantile of a claim; a box is drawn
of the runs that do succeed, with their share below it: quartiles, whiskers of 1.5 times their distance, and crosses at
the least and the most. The paper has 1,000 runs of every width.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float
from matplotlib.ticker import LogLocator

import paritylab as pl

from ...figures import INKS, Axes, Figures, panels
from ...statistics import quantile
from ...sweep import Results
from ..base import Claim, Measured, Null, Region
from ..measures import UNKNOWN, bootstrap_of_several, fraction
from .shared.claims import about
from .shared.measures import slope_of_medians

K, BATCH, RATE, EVERY = 3, 128, 0.1, 10
STREAK, ACCURACY = 10, 0.55
RED = "#a01010"
NARROW, LEVEL = 10, 100
"""The least width at which tails are compared (below, many runs fail), and from which on the time is to be level."""
TAIL = 16
"""Runs that a width must have for a claim about its 90th percentile."""
POINTS = 128


@dataclass(frozen=True)
class Settings:
    seeds: Mapping[int, tuple[tuple[int, int], ...]]
    """For each n, each width and how many runs it has."""
    steps: int
    weak_steps: int
    """Steps of the networks that are too narrow."""
    figure: str
    title: str
    panel: tuple[float, float]
    """Width and height of a panel in inches."""

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(self.seeds)

    def wide(self, n: int) -> tuple[int, ...]:
        return tuple(width for width, _ in self.seeds[n] if width >= NARROW)


QUICK_SEEDS = ((1, 40), (3, 40), (10, 40), (30, 40), (100, 40), (300, 16), (1000, 10))
FEW = ((10_000, 100), (100_000, 25), (1_000_000, 10))
PAPER_SEEDS = (*((width, 1000) for width in (1, 2, 3, 5, 10, 30, 100, 300, 1000)), *FEW[:1], (30_000, 50), *FEW[1:])
"""Here the widest networks, which cost most and scatter least, have fewer runs than in the paper."""
COARSE = (*((width, 1000) for width in (1, 3, 10, 100, 1000)), *FEW)
ONE = ("figure4-left", "A wider network is no faster search: the time levels off", (6.0, 3.4))
SEVERAL = ("figure14", "Time against width: no parallel speed-up, but fewer long runs", (3.6, 3.0))
FIGURE4_LEFT = {
    "quick": Settings({40: QUICK_SEEDS}, 8_000, 8_000, *ONE),
    "paper": Settings({40: PAPER_SEEDS}, 20_000, 20_000, *ONE),
}
FIGURE14 = {
    "quick": Settings({30: QUICK_SEEDS[:-1], 40: QUICK_SEEDS[:-1]}, 8_000, 8_000, *SEVERAL),
    "paper": Settings({30: COARSE, 40: PAPER_SEEDS, 50: COARSE}, 20_000, 20_000, *SEVERAL),
}


def plan(settings: Settings) -> Iterator[pl.Plan]:
    for n in settings.sizes:
        for width, seeds in settings.seeds[n]:
            yield pl.plan(
                pl.Uniform(pl.Parity(n, support=range(K))),
                pl.MLP(width),
                batch=BATCH,
                rate=RATE,
                seeds=seeds,
                steps=settings.steps if width >= K else settings.weak_steps,
                every=EVERY,
                validation=POINTS,
                lanes=min(seeds, max(4, 2**24 // (width * BATCH))) if width >= 10_000 else None,
                records=() if width >= K else (pl.FreshError(BATCH),),
                labels={"size": n, "width": width},
            )


def random_search(n: int, width: int | float) -> float:
    """The expected tries until one of r copies hits upon the one support among C(n, k)."""
    return math.comb(n, K) / width


def read(settings: Settings, results: Results) -> pd.DataFrame:
    """One row per run: n (as `size`), width, seed, and the time to success, infinite if there is none."""
    table, columns = results.table(), ["size", "width", "seed"]
    strong = table[table.width >= K]
    strong = strong.assign(time=strong.converged_at.astype(float).fillna(np.inf))
    curves = results.curves().groupby(columns)
    weak = [(*place, end_of_streak(curve)) for place, curve in curves if place[1] < K]
    columns.append("time")
    return pd.concat([pd.DataFrame(weak, columns=columns), strong])[columns]


def end_of_streak(curve: pd.DataFrame) -> float:
    """The step at which the accuracy was high enough for the tenth time in a row; infinite if it never was."""
    curve = curve[curve.step > 0].sort_values("step")
    good: Bool[np.ndarray, " tests"] = curve.fresh_error.to_numpy() <= 1 - ACCURACY
    ends = np.flatnonzero(np.convolve(good, np.ones(STREAK, int), "valid") == STREAK)
    return float(curve.step.iloc[ends[0] + STREAK - 1]) if len(ends) else math.inf


def claims(settings: Settings) -> Iterator[Claim]:
    for n in settings.sizes:
        yield from claims_of(n, settings)


def claims_of(n: int, settings: Settings) -> Iterator[Claim]:
    """Of parities of n bits. Widths share their seeds, over which the intervals are bootstraps."""
    widths = settings.wide(n)
    widest, tenth, level = widths[-1], tenth_of(widths), [width for width in widths if width >= LEVEL]
    claim = about(f"n{n}", f"n = {n}", lambda times: times[times["size"] == n])
    text = f"there is no r-fold speed-up; the slope of log median time in log width, from r = {LEVEL} to {widest:,}"
    null = Null("random search, C(n, k) / r", -1)
    yield claim("no-speed-up", text, Region(low=-0.1), partial(slope, level), null=null)
    text = f"the time is level: the median time at width {widest:,} over that at width {tenth:,}"
    null = Null("random search, C(n, k) / r", tenth / widest)
    yield claim("plateau", text, Region(0.6, 1.6), partial(compared, [widest, tenth], ratio), null=null)
    wide = max(width for width, seeds in settings.seeds[n] if seeds >= TAIL)
    text = f"90th percentile over median at width {wide:,}, over the same at width {NARROW}"
    measure, null = partial(compared, [wide, NARROW], tail), Null("a tail that does not depend on the width", 1)
    yield claim("tail", f"width mitigates the upper tail: {text}", Region(high=0.9), measure, null=null)
    for narrow in [width for width, _ in settings.seeds[n] if width < K]:
        text = f"a network of width {narrow}, which cannot hold the parity, still reaches an accuracy of 55%"
        succeed, null = partial(succeeding, narrow), Null("chance", 1e-9)
        yield claim(f"weak/r{narrow}", f"{text}; the fraction of runs", Region(low=0.2), succeed, null=null)


def succeeding(width: int, times: pd.DataFrame) -> Measured:
    return fraction(np.isfinite(times.time[times.width == width]))


def tenth_of(widths: tuple[int, ...]) -> int:
    """The width that is nearest to a tenth of the widest."""
    return min(widths, key=lambda width: abs(math.log(10 * width / widths[-1])))


def times_at(widths: Sequence[int], times: pd.DataFrame) -> list[Float[np.ndarray, " runs"]]:
    """The times at each width, which are independent: widths share seeds, but no network."""
    return [times.time[times.width == width].to_numpy(float) for width in widths]


def slope(widths: Sequence[int], times: pd.DataFrame) -> Measured:
    """Of the logarithm of the median against the logarithm of the width; not known if some median is not."""
    samples = times_at(widths, times)
    if any(quantile(each, 0.5) == math.inf for each in samples):
        return UNKNOWN
    return slope_of_medians(np.log(widths), [np.log(each) for each in samples])


def compared(widths: Sequence[int], how: Callable[[Sequence[np.ndarray]], float], times: pd.DataFrame) -> Measured:
    """A statistic of the times at some widths."""
    return bootstrap_of_several(times_at(widths, times), how)


def ratio(samples: Sequence[np.ndarray]) -> float:
    """Of the median of the first times to that of the second; infinite if the former is."""
    first, second = (quantile(each, 0.5) for each in samples)
    return first / second if first < math.inf else math.inf


def tail(samples: Sequence[np.ndarray]) -> float:
    """The 90th percentile over the median of the first times, over that of the second; infinite if the former is."""
    wide, narrow = (ratio_of_quantiles(each) for each in samples)
    return wide / narrow if wide < math.inf else math.inf


def ratio_of_quantiles(times: np.ndarray) -> float:
    high = quantile(times, 0.9)
    return high / quantile(times, 0.5) if high < math.inf else math.inf


def plot(settings: Settings, times: pd.DataFrame) -> Figures:
    """Boxes against the width, on logarithmic axes; one panel for each n."""
    width, height = settings.panel
    figure, axes = panels(1, len(settings.sizes), width=width, height=height)
    for axis, n in zip(axes[0], settings.sizes, strict=True):
        draw_boxes(axis, times[times["size"] == n], n)
    ends = np.array([axis.get_ylim() for axis in axes[0]])
    for axis in axes[0]:
        axis.set_ylim(ends[:, 0].min(), ends[:, 1].max())
    draw_legend(axes[0, -1])
    axes[0, 0].set_ylabel("steps to success")
    figure.suptitle(settings.title)
    return {settings.figure: figure}


def draw_boxes(axis: Axes, times: pd.DataFrame, n: int) -> None:
    """Boxes of the times by width, crosses at least and most, and random search in green."""
    for width, runs in times.groupby("width"):
        done: Float[np.ndarray, " runs"] = runs.time[np.isfinite(runs.time)].to_numpy()
        color = INKS[0] if width >= K else RED
        draw_box(axis, int(width), done, color)
        share = f"{len(done) / len(runs):.0%}"
        axis.annotate(share, (width, 0), (0, 3), xycoords=("data", "axes fraction"), textcoords="offset points",
                      ha="center", fontsize=6, color=color)  # fmt: skip
    widths = np.array(sorted(times.width.unique()), float)
    axis.plot(widths, [random_search(n, width) for width in widths], color=INKS[2], linestyle="--", marker=".")
    lowest = min(random_search(n, int(widths[-1])), times.time.min())
    axis.set(xscale="log", yscale="log", xlabel="width r", title=f"({n}, {K})-parity", ylim=(lowest / 3, None))
    axis.xaxis.set_major_locator(LogLocator(10))
    axis.minorticks_off()


def draw_box(axis: Axes, width: int, times: Float[np.ndarray, " runs"], color: str) -> None:
    if not len(times):
        return
    axis.boxplot(
        [times],
        positions=[width],
        widths=0.35 * width,
        whis=1.5,
        showfliers=False,
        manage_ticks=False,
        patch_artist=True,
        boxprops={"facecolor": color, "alpha": 0.35, "edgecolor": color},
        medianprops={"color": color, "linewidth": 1.5},
        whiskerprops={"color": color},
        capprops={"color": color},
    )
    axis.plot([width, width], [times.min(), times.max()], "x", color=color, markersize=4)


def draw_legend(axis: Axes) -> None:
    """Says what the marks are, beside the data."""
    axis.plot([], [], "s", color=INKS[0], alpha=0.5, label="no mistake")
    axis.plot([], [], "s", color=RED, alpha=0.5, label=f"r < {K}: accuracy 55%")
    axis.plot([], [], "x", color="0.3", label="least and most")
    axis.plot([], [], color=INKS[2], linestyle="--", marker=".", label="random search,\n$\\binom{n}{k}/r$ tries")
    axis.plot([], [], " ", label="%: share of runs\nthat succeed")
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7)
