"""Times to success against the width of a ReLU network: what figures 4 (left) and 14 of hidden-progress share.

Online SGD with hinge loss, batches of 128 and rate 0.1, on the parity of 3 out of n bits. A network of width r >= 3
succeeds when it makes no mistake on 8,192 points (the paper's larger probes look at 128). Narrower ones cannot hold
the parity; they succeed with an accuracy of at least 55% on ten batches of 128 fresh points in a row, looked at every
10 steps, which chance does once in 10^9 times. Which of its batches the paper looks at it does not say.

A run that does not succeed in time counts as infinitely slow in every median and quantile of a claim; a box is drawn
of the runs that do succeed, with their share below it.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float
from matplotlib.axes import Axes

import paritylab as pl

from ...figures import INKS
from ...statistics import bootstrap_interval, quantile, wilson_interval
from ...sweep import Results
from ...training.plans import Plan
from ..base import Claim, Measured, Region, Scale, Verdict

K, BATCH, RATE, EVERY = 3, 128, 0.1, 10
STREAK, ACCURACY = 10, 0.55
NARROW = 10
"""The least width from which on the time is compared with 1/r: below, many runs fail."""


@dataclass(frozen=True)
class Settings:
    sizes: tuple[int, ...]
    """n."""
    seeds: tuple[tuple[int, int], ...]
    """Each width, and how many runs it has."""
    steps: int
    weak_steps: int
    """Steps of the networks that are too narrow."""

    @property
    def wide(self) -> tuple[int, ...]:
        return tuple(width for width, _ in self.seeds if width >= NARROW)


def plan(settings: Settings) -> Iterator[Plan]:
    for n in settings.sizes:
        for width, seeds in settings.seeds:
            yield pl.plan(
                pl.Uniform(pl.Parity(n, support=range(K))),
                pl.MLP(width),
                batch=BATCH,
                rate=RATE,
                seeds=seeds,
                steps=settings.steps if width >= K else settings.weak_steps,
                every=EVERY,
                records=() if width >= K else (pl.FreshError(BATCH),),
                labels={"size": n, "width": width},
            )


def random_search(n: int, width: int | float) -> float:
    """The expected tries until one of r copies hits upon the one support among C(n, k)."""
    return math.comb(n, K) / width


def claims_of(settings: Settings, known: Mapping[str, Verdict]) -> list[Claim]:
    """What both figures say, for every n; `known` are the verdicts at quick scale."""
    widest, tenth = settings.wide[-1], tenth_of(settings.wide)
    made = []
    for n in settings.sizes:
        for name, text, expected, region in (
            (
                "no-speed-up",
                f"the slope of log median time in log width, from r = {NARROW} to {widest}; random search has -1",
                None,
                Region(low=-0.5),
            ),
            (
                "plateau",
                f"the median time at width {widest} over that at width {tenth}: a wider network is hardly faster",
                None,
                Region(low=0.5),
            ),
            (
                "random-search",
                f"at width {widest} SGD takes longer than as many copies of random search; the quotient of the times",
                None,
                Region(low=1),
            ),
            (
                "tail",
                f"width mitigates the upper tail: 90th percentile over median at width {widest}, over the same at "
                f"width {NARROW}",
                None,
                Region(high=1),
            ),
            *(
                (
                    f"weak/r{width}",
                    f"a network of width {width}, which cannot hold the parity, still reaches an accuracy of 55%; the "
                    "fraction of runs",
                    None,
                    Region(low=0.2),
                )
                for width, _ in settings.seeds
                if width < K
            ),
        ):
            where = f"n{n}/{name}"
            recorded: Mapping[Scale, Verdict] = {"quick": known[where]} if where in known else {}
            made.append(Claim(where, f"n = {n}: {text}", expected, region, recorded))
    return made


def tenth_of(widths: tuple[int, ...]) -> int:
    """The width that is nearest to a tenth of the widest."""
    return min(widths, key=lambda width: abs(math.log(10 * width / widths[-1])))


def measure_all(settings: Settings, results: Results) -> dict[str, Measured]:
    """Bootstrap over seeds, which all widths share; Wilson's interval of each fraction."""
    times = success_times(results)
    measured = {}
    for n in settings.sizes:
        here = times[times["size"] == n]
        grid = here[here.width >= NARROW].pivot(index="seed", columns="width", values="time")[[*settings.wide]]
        values = grid.to_numpy(float)  # NaN where a width has fewer seeds
        for name, statistic in statistics_of(settings.wide, n).items():
            measured[f"n{n}/{name}"] = Measured(statistic(values), bootstrap_interval(values, statistic))
        for width, seeds in settings.seeds:
            if width < K:
                reached = int(np.isfinite(here[here.width == width].time).sum())
                measured[f"n{n}/weak/r{width}"] = Measured(reached / seeds, wilson_interval(reached, seeds))
    return measured


def statistics_of(widths: tuple[int, ...], n: int) -> dict[str, Callable[[np.ndarray], float]]:
    """Each claim's number as a function of a table of times: seeds down, widths across."""
    place, logs = widths.index(tenth_of(widths)), np.log(widths) - np.mean(np.log(widths))

    def at(times: np.ndarray, column: int, q: float) -> float:
        known = times[:, column]
        return quantile(known[~np.isnan(known)], q)

    def slope(times: np.ndarray) -> float:
        medians = np.log([at(times, column, 0.5) for column in range(len(widths))])
        return float(logs @ medians / (logs @ logs))

    def spread(times: np.ndarray, column: int) -> float:
        high = at(times, column, 0.9)
        return high / at(times, column, 0.5) if math.isfinite(high) else math.inf

    def tail(times: np.ndarray) -> float:
        wide, narrow = spread(times, -1), spread(times, 0)
        return wide / narrow if math.isfinite(wide) else math.inf

    return {
        "no-speed-up": slope,
        "plateau": lambda times: at(times, -1, 0.5) / at(times, place, 0.5),
        "random-search": lambda times: at(times, -1, 0.5) / random_search(n, widths[-1]),
        "tail": tail,
    }


def success_times(results: Results) -> pd.DataFrame:
    """One row per run: n (as `size`), width, seed, and the time to success, infinite if there is none."""
    table = results.table()
    strong = table[table.width >= K]
    strong = strong.assign(time=strong.converged_at.astype(float).fillna(np.inf))
    weak = [
        {"size": size, "width": width, "seed": seed, "time": end_of_streak(curve)}
        for (size, width, seed), curve in results.curves().groupby(["size", "width", "seed"])
        if width < K
    ]
    return pd.concat([pd.DataFrame(weak, columns=["size", "width", "seed", "time"]), strong])[
        ["size", "width", "seed", "time"]
    ]


def end_of_streak(curve: pd.DataFrame) -> float:
    """The step at which the accuracy was high enough for the tenth time in a row; infinite if it never was."""
    curve = curve[curve.step > 0].sort_values("step")
    good: Bool[np.ndarray, " looks"] = curve.fresh_error.to_numpy() <= 1 - ACCURACY
    ends = np.flatnonzero(np.convolve(good, np.ones(STREAK, int), "valid") == STREAK)
    return float(curve.step.iloc[ends[0] + STREAK - 1]) if len(ends) else math.inf


def draw_boxes(axis: Axes, times: pd.DataFrame, n: int) -> None:
    """Boxes of the times by width, crosses at least and most, and random search in green."""
    for width, runs in times.groupby("width"):
        done: Float[np.ndarray, " runs"] = runs.time[np.isfinite(runs.time)].to_numpy()
        color = INKS[0] if width >= K else "#a01010"
        draw_box(axis, int(width), done, color)
        share = f"{len(done) / len(runs):.0%}"
        axis.annotate(share, (width, 0), (0, 3), xycoords=("data", "axes fraction"), textcoords="offset points",
                      ha="center", fontsize=6, color=color)  # fmt: skip
    widths = np.array(sorted(times.width.unique()), float)
    axis.plot(widths, [random_search(n, width) for width in widths], color=INKS[2], linestyle="--", marker=".")
    lowest = min(random_search(n, int(widths[-1])), times.time.min())
    axis.set(xscale="log", yscale="log", xlabel="width r", title=f"({n}, {K})-parity")
    axis.set_ylim(lowest / 3, None)
    axis.set_xticks(widths, [f"{width:g}" for width in widths])
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
    axis.plot([], [], "s", color="#a01010", alpha=0.5, label=f"r < {K}: accuracy 55%")
    axis.plot([], [], "x", color="0.3", label="least and most")
    axis.plot([], [], color=INKS[2], linestyle="--", marker=".", label="random search,\n$\\binom{n}{k}/r$ tries")
    axis.plot([], [], " ", label="%: share of runs\nthat succeed")
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7)
