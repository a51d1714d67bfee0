"""Figure 1, right, of hidden-progress: median convergence times for small n and k, on logarithmic axes.

The time to learn a k-parity of n bits grows like a power of n, with an exponent that grows with k; the paper takes
this as evidence against random search, whose time would grow exponentially in n. It does not name the network. Here
it is setting (ii), the ReLU network of width 100 at rate 1, whose curves are also the second panel of figure 10: both
share their runs. Every n of the paper is validated on 128 points, n = 10, 20, 30 and 40 on 8,192 too.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...figures import Figures, one_panel
from ...statistics import power_law
from ...sweep import Results
from ...training.plans import Plan
from ..base import Claim, Measured, Null, Region
from ..measures import UNKNOWN
from .shared import medians
from .shared.medians import Curves, Medians, plan_curves, power_claims, read_curves, relu_100

READING = 8192
"""The other number of validation points."""


@dataclass(frozen=True)
class Settings:
    curves: Curves
    reading: Curves
    """Validated on 8,192 points."""
    judged: tuple[int, ...] = (2, 3, 4)
    """The degrees that claims speak of."""


def settings_of(curves: Curves, sizes: tuple[int, ...], seeds: int) -> Settings:
    reading = curves._replace(sizes=sizes, degrees=(2, 3, 4), seeds=seeds, validation=READING)
    return Settings(curves, reading)


ALL = relu_100(tuple(range(10, 41)), (2, 3, 4, 5, 6, 7, 8), seeds=1000, steps=100_000, hard_seeds=100)
SETTINGS = {
    "quick": settings_of(relu_100((10, 15, 20, 30), (2, 3, 4), seeds=40, steps=10_000), (10, 30), 40),
    "paper": settings_of(ALL, (10, 20, 30, 40), 1000),
}


def plan(settings: Settings) -> Iterator[Plan]:
    yield from plan_curves([settings.curves, settings.reading])


def read(settings: Settings, results: Results) -> Medians:
    return read_curves([settings.curves, settings.reading], results.table())


def claims(settings: Settings) -> Iterator[Claim]:
    """Powers of n, larger ones for larger k, and nothing like an exponential law.

    Four medians of 40 runs, at quick scale, cannot tell a power of n from an exponential law.
    """
    yield from power_claims(settings.curves, settings.judged)
    yield from power_claims(settings.reading, settings.judged, f"{READING}/", f"validated on {READING:,} points")
    misfit = "the misfit of the best power law over that of the best exponential one (root mean squares of logarithms)"
    for k in settings.judged[1:]:
        text = f"k = {k}: the time is closer to a power of n than to an exponential law, as random search would have"
        measure = partial(misfits, settings.curves, k)
        null = Null("times of an exponential law", math.inf)
        yield Claim(f"k{k}/power", f"{text}; {misfit}", None, Region(high=1), measure, null=null)


def misfits(curves: Curves, k: int, data: Medians) -> Measured:
    """Misfit of the power law over misfit of the exponential law, over all sizes before the curve halts."""
    count = medians.known(data[curves, k])
    if count < 3:
        return UNKNOWN
    sizes = np.array(curves.sizes[:count], float)
    value = lambda sample: misfit(sizes, sample) / misfit(np.exp(sizes), sample)  # a power of exp(n) is exponential
    return medians.bootstrap_of_medians(data[curves, k][:, :count], value)


def misfit(x: np.ndarray, times: np.ndarray) -> float:
    """Root mean square of log(median) less its best power law in x."""
    medians = np.median(times, axis=0)
    law = power_law(x, medians)
    return float(np.sqrt(np.mean((np.log(medians / law.constant) - law.exponent * np.log(x)) ** 2)))


def plot(settings: Settings, data: Medians) -> Figures:
    """One line per degree."""
    figure, axis = one_panel(width=4.8, height=3.4)
    medians.draw_medians(axis, settings.curves, data, (10, 15, 20, 30, 40))
    for k in settings.reading.degrees:
        times = np.median(data[settings.reading, k], axis=0)
        axis.plot(settings.reading.sizes, np.where(np.isfinite(times), times, np.nan), "_", color="0.2", markersize=9)
    axis.plot([], [], "_", color="0.2", markersize=9, label=f"on {READING:,} points")
    words = f"validated on {settings.curves.validation} points, medians of {settings.curves.seeds:,} runs (bars: 95%)"
    axis.set(ylabel="median convergence time (steps)", title=f"(ii) ReLU, width 100, batch 32, rate 1\n{words}")
    axis.legend(loc="upper left", bbox_to_anchor=(1.01, 1))
    return {"figure1-right": figure}
