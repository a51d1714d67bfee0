"""Figure 1, right, of hidden-progress: median convergence times for small n and k, on logarithmic axes.

The time to learn a k-parity of n bits grows like a power of n, with an exponent that grows with k; the paper takes
this as evidence against random search, whose time would grow exponentially in n. It does not name the network. Here
it is setting (ii), the ReLU network of width 100 at rate 1, whose curves are also the second panel of figure 10: both
share their runs.

Exponents are fitted to the medians at n <= 30. For "n to the O(k)" we accept exponents of at most 2k.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...figures import Figures, one_panel
from ...statistics import power_law
from ..base import Claim, Measured, Region
from ..measures import UNKNOWN, bootstrap
from .shared import medians
from .shared.medians import RESAMPLES, Curves, Medians, plan as plan, power_claims, read as read, relu_100


@dataclass(frozen=True)
class Settings:
    curves: Curves
    judged: tuple[int, ...] = (2, 3, 4)
    """The degrees that claims speak of."""


SETTINGS = {
    "quick": Settings(relu_100((10, 15, 20, 30), (2, 3, 4), seeds=40, steps=10_000)),
    "paper": Settings(relu_100(tuple(range(10, 41)), (2, 3, 4, 5, 6, 7, 8), seeds=1000, steps=100_000)),
}


def claims(settings: Settings) -> Iterator[Claim]:
    """Powers of n, larger ones for larger k, and nothing like an exponential law.

    Four medians of 40 runs, at quick scale, cannot tell a power of n from an exponential law.
    """
    yield from power_claims(settings.curves, settings.judged)
    misfit = "the misfit of the best power law over that of the best exponential one (root mean squares of logarithms)"
    for k in settings.judged[1:]:
        text = f"k = {k}: the time is closer to a power of n than to an exponential law, as random search would have"
        measure = partial(misfits, settings.curves, k)
        yield Claim(f"k{k}/power", f"{text}; {misfit}", None, Region(high=1), measure)


def misfits(curves: Curves, k: int, data: Medians) -> Measured:
    """Misfit of the power law over misfit of the exponential law, over all sizes before the curve halts."""
    count = medians.known(data[curves, k])
    if count < 3:
        return UNKNOWN
    sizes = np.array(curves.sizes[:count], float)
    capped = np.minimum(data[curves, k][:, :count], curves.steps)
    value = lambda sample: misfit(sizes, sample) / misfit(np.exp(sizes), sample)  # a power of exp(n) is exponential
    return bootstrap(capped, value, RESAMPLES)


def misfit(x: np.ndarray, times: np.ndarray) -> float:
    """Root mean square of log(median) less its best power law in x."""
    medians = np.median(times, axis=0)
    law = power_law(x, medians)
    return float(np.sqrt(np.mean((np.log(medians / law.constant) - law.exponent * np.log(x)) ** 2)))


def plot(settings: Settings, data: Medians) -> Figures:
    """One line per degree."""
    figure, axis = one_panel(width=4.8, height=3.4)
    medians.draw_medians(axis, settings.curves, data, (10, 15, 20, 30, 40))
    words = f"medians over {settings.curves.seeds} runs; slopes grow with k (bars: 95%)"
    axis.set(ylabel="median convergence time (steps)", title=f"(ii) ReLU, width 100, batch 32, rate 1\n{words}")
    axis.legend(loc="upper left", bbox_to_anchor=(1.01, 1))
    return {"figure1-right": figure}
